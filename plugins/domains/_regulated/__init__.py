"""The generator of regulated decisions, driven by one declarative spec file per domain.

The data flow, one module a step: `loading` reads and checks the spec file; `facts` draws the facts;
`sample` draws, for a target decision, a policy that implies it (`target` and `placing` place its
thresholds, `policy` computes the label); `wording` turns facts, rules and revisions into sentences;
`documents` sets them into documents; `filling` brings a history to its length; `gold` says what
must survive. After `sample` nothing looks at the target.
"""
