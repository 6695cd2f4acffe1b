"""What agents said their packets were worth. Pure."""
