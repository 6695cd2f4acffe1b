"""The world behind the ports: brokers, databases, embedders, clocks; and the in-memory ones that run the replay."""
