"""The generator of regulated decisions, driven by one declarative spec file per domain.

The data flow, one module a step: `loading` reads and checks the spec file; `facts` samples the
facts; `generate` samples, for a target decision, a policy that implies it (`target` and
`thresholds` place its thresholds, `policy` computes the label); `wording` turns facts, rules and
revisions into sentences; `documents` and `rendering` set them into documents; `padding` brings a
history to its length; `gold` says what must survive. After `generate` nothing looks at the target.
"""
