// Weights of the site's search: pages to learn from come before changes, benchmarks and generated tables.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([docname, , , , score]) => {
    if (/^(changelog|performance|coverage|verdicts|json|architecture$|extending|reference\/generated\/)/.test(docname)) return score - 11;
    return /^(faq|get_started|tutorials\/)/.test(docname) ? score + 1 : score;
  },
};
