"""Regulated decisions of an office that keeps the papers of several files together.

domain     settings, cases, histories, and what can be decided from what a view holds
filing     what a document is filed under, the intake sheet, the gold that says whose a document is
handles    by spec, what a file is called (YAML)
"""
