"""BibTeX of what to cite: Gnomon, and the papers behind benchmarks or runs.

examples:
  gnomon cite
  gnomon cite scales spacenli@published
  gnomon cite runs --format text
  gnomon cite runs > used.bib

Without a name, everything that Gnomon knows. Models are cited as their authors ask: for those of
the Hugging Face hub, a comment names the page that says how.
"""

from argparse import Namespace


def main(args: Namespace) -> int:
    """Print the entries."""
    from gnomon.reports.citations import cited

    print(cited(args.used, args.format))
    return 0
