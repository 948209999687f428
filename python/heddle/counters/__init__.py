"""The counters of AMD's cards: what heddle gives of them (table), as a report (told) and beside
those of a card (card)."""
