"""The improvement loop: diagnose, author, gate, promote or discard, every step an event (Regimes).

It knows a target only by its contract (`framework.contracts.Target`) and holds no word of any. In
the order in which a loop comes to them:

    loop        the start, the iteration, the end
    attempt     LoopState; one attempt: drafts, gates, promotion or discard; consolidation
    author      what the author is asked, what it answers, the static gate
    gates       the in-sample gate, interim analyses of CONFIRM, the measured noise, the plateau
    heldout     TEST, opened once
    results     paired outcomes, and the content of improve.json
    evaluator   measuring a stack on cases
    stack       candidates and the stack of those installed; seams and code: what an edit does
    operators   guarded operators as edits: guards, what is installed, what they did
    splits      OPTIMIZE, CONFIRM, TEST
    protocol    `protocol=improve`, its face to a run
    events      the loop's journal: written, resumed, replayed
    settings    what a loop may do
"""
