"""RuleArena's airline: what a passenger pays for bags, by the airline's published rules."""
