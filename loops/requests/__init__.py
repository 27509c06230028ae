"""What was asked, and what GitHub told: deliveries and API calls turned into one decision each."""
