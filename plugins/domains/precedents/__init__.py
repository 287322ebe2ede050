"""Series of change plans, each decided by precedents that earlier plans of the series made.

series     who builds on whom, what each ruling fixes, which one is corrected
texts      records as sentences and events
tasks      tickets, plans, gold
domain     cases, histories, and what a session is told
axis       whether the correction is honoured
"""
