"""A published figure of any kind as a part of a report: its chart, its claims, its points."""

from __future__ import annotations

from rote.experiments.blocks.findings import BlockFindings
from rote.experiments.lookups.findings import FigureFindings
from rote.experiments.reproduction import AnyFindings
from rote.experiments.statements.findings import StatementFindings
from rote.report.block_part import block_chart, block_table
from rote.report.document import Block, ChartBlock, ClaimBlock, ReportPart, Text
from rote.report.run_charts import findings_chart
from rote.report.statement_part import statement_charts, statement_table
from rote.report.table_part import cell_table, law_tables
from rote.report.vector_part import point_table, vector_chart


def figure_part(findings: AnyFindings) -> ReportPart:
    """Everything that the trials say of one figure."""
    blocks: list[Block] = []
    if isinstance(findings, FigureFindings):
        charts, tables = [findings_chart(findings)], [cell_table(findings), *law_tables(findings)]
    elif isinstance(findings, BlockFindings):
        charts, tables = [block_chart(findings)], [block_table(findings)]
    elif isinstance(findings, StatementFindings):
        charts, tables = statement_charts(findings), [statement_table(findings)]
    else:
        charts, tables = [vector_chart(findings)], [point_table(findings)]
    names = [findings.figure.id, *(f"{findings.figure.id}-{number}" for number in range(2, len(charts) + 1))]
    blocks += [ChartBlock(name, chart) for name, chart in zip(names, charts, strict=False)]
    if findings.missing:
        what = "planned trials" if isinstance(findings, FigureFindings) else "points"
        blocks.append(Text(f"{findings.missing:,} {what} have not ended yet; verdicts may change with them."))
    if findings.quick:
        blocks.append(Text("A quick run: fewer cells and repeats than the paper's."))
    blocks += [
        ClaimBlock(claim.statement, claim.rule.in_words, verdict.outcome, verdict.why)
        for claim, verdict in zip(findings.figure.claims, findings.published_verdicts, strict=True)
    ]
    blocks += tables
    if findings.note:
        blocks.append(Text(findings.note))
    return ReportPart(f"{findings.figure.id}: {findings.figure.title}", blocks)
