"""The generator of regulated decisions, driven by one declarative spec file per domain.

The data flow, one module a step: `spec` reads and checks the file; `sample` draws facts, then the
target decision, then thresholds that make the policy imply it (`policy` computes the label);
`wording` turns facts, rules and revisions into sentences; `documents` sets them into documents;
`filling` brings a history to its length; `gold` says what must survive.
"""
