"""The papers whose results, constructions and figures are here: one record each, by the id that all of these carry."""

from __future__ import annotations

from dataclasses import dataclass

from rote.errors import InputError


@dataclass(frozen=True)
class Paper:
    """A paper as it is cited."""

    id: str
    """First author and year; ids of results, constructions and figures begin with it."""
    name: str
    """Authors and year, as a source is named in a table."""
    title: str
    venue: str

    @property
    def citation(self) -> str:
        """The whole reference, on one line."""
        return f'{self.name}. "{self.title}". {self.venue}'

    def source(self, where: str = "") -> str:
        """The place in the paper that a statement comes from: "Dana, Pydi, Chevaleyre 2025, Theorem 1"."""
        return f"{self.name}, {where}" if where else self.name


PAPERS: dict[str, Paper] = {
    paper.id: paper
    for paper in (
        Paper(
            "allenzhu2024",
            "Allen-Zhu, Li 2024",
            "Physics of Language Models: Part 3.3, Knowledge Capacity Scaling Laws",
            "arXiv 2404.05405",
        ),
        Paper("bietti2023", "Bietti et al. 2023", "Birth of a Transformer: A Memory Viewpoint", "NeurIPS 2023"),
        Paper(
            "bubeck2020",
            "Bubeck, Eldan, Lee, Mikulincer 2020",
            "Network size and size of the weights in memorization with two-layers neural networks",
            "NeurIPS 2020",
        ),
        Paper("cabannes2024", "Cabannes, Dohmatob, Bietti 2024", "Scaling Laws for Associative Memories", "ICLR 2024"),
        Paper("dana2024", "Dana 2024 (slides)", "Memorization in Attention-only Transformers", "talk, 13 June 2024"),
        Paper("dana2025", "Dana, Pydi, Chevaleyre 2025", "Memorization in Attention-only Transformers", "AISTATS 2025"),
        Paper(
            "hebbian2026",
            "HazyResearch 2026",
            "MLPs are Hebbians: Constructing Efficient Fact-Storing MLPs for Transformers",
            "COLM 2026, arXiv 2607.10034",
        ),
        Paper(
            "huben2023",
            "Huben, Morris 2023",
            "Attention-Only Transformers and Implementing MLPs with Attention Heads",
            "arXiv 2309.08593",
        ),
        Paper(
            "kajitsuka2025",
            "Kajitsuka, Sato 2025",
            "On the Optimal Memorization Capacity of Transformers",
            "ICLR 2025",
        ),
        Paper("kim2023", "Kim, Kim, Mozafari 2023", "Provable Memorization Capacity of Transformers", "ICLR 2023"),
        Paper(
            "madden2025",
            "Madden, Fox, Thrampoulidis 2025",
            "Next-token prediction capacity: general upper bounds and a lower bound for transformers",
            "arXiv 2405.13718",
        ),
        Paper(
            "mahdavi2024",
            "Mahdavi, Liao, Thrampoulidis 2024",
            "Memorization Capacity of Multi-Head Attention in Transformers",
            "ICLR 2024",
        ),
        Paper("morris2025", "Morris et al. 2025", "How much do language models memorize?", "arXiv 2505.24832"),
        Paper(
            "nichani2024",
            "Nichani, Lee, Bietti 2024",
            "Understanding Factual Recall in Transformers via Associative Memories",
            "arXiv 2412.06538",
        ),
        Paper("rote", "rote", "How much can a Transformer learn by rote?", "this library"),
        Paper(
            "vardi2022",
            "Vardi, Yehudai, Shamir 2022",
            "On the Optimal Memorization Power of ReLU Neural Networks",
            "ICLR 2022",
        ),
    )
}


def register_paper(paper: Paper) -> Paper:
    """Add a paper, whose results and constructions may then be registered.

    >>> import rote.extend
    >>> rote.extend.register_paper(rote.extend.PAPERS["dana2025"])
    Traceback (most recent call last):
    rote.errors.InputError: paper dana2025: this id is registered already; give another
    """
    if paper.id in PAPERS:
        raise InputError(f"paper {paper.id}: this id is registered already; give another")
    if not paper.id.isidentifier():
        raise InputError(f"paper {paper.id!r}: ids are letters and digits, such as dana2025")
    PAPERS[paper.id] = paper
    return paper
