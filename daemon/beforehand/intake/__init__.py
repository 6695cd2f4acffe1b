"""The door: reading, ordering, deduplicating and storing what arrives."""
