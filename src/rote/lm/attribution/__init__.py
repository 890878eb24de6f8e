"""Where a language model computes an answer: direct logit attribution, ablation and activation patching by component.

A *component* is one attention head or one MLP. What a fact loses when a component is ablated is an effect of that
intervention; it does not say that the fact is stored there.
"""
