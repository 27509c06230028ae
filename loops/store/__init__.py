"""What is kept: the tables, and the small services over SQL and Redis that everything above writes through."""
