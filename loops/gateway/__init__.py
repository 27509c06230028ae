"""The model gateway's knowledge: who may ask which model, where, with what key, and what it has cost."""
