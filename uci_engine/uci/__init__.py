"""The UCI conversation: text to data and back."""
