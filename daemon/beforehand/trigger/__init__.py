"""Deciding what a step needs: features, rules, model, utility, decision. Pure."""
