"""The MQTT broker as a Bus, and the one connection that daemon and client library share."""
