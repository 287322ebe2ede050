"""Governed corpora: decision records on one long path of typed links, and tickets that they govern.

settings   every knob, with its unit
lexicon    areas, names and settings from lexicon.yaml; sentences from wording.yaml
layout     which record of a corpus stands where: chains, look-alikes, padding, identifiers, dates
content    what a chain is about: vocabulary that drifts, what its records constrain
render     records as sentences, sentences as events
edges      typed edges, and noise on them
tasks      tickets, plans, gold
corpus     all of it together: events and cases
invariant  the executable check of an edit
measured   what a corpus really has of each knob; similarity of tasks
leaks      which tasks could be answered without the corpus
"""
