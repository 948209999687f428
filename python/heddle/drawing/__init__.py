"""Figures of all commands.

draw  shapes, texts and axes, as SVG
pgf   the same figures for LaTeX
"""
