"""What one agent remembers: sessions, plans, events, and the router that answers from them. Pure."""
