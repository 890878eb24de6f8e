"""Every target, a file each; importing them registers them and loads none of their libraries."""

from rote.export.targets import gpt2 as gpt2
from rote.export.targets import huggingface as huggingface
from rote.export.targets import llama as llama
from rote.export.targets import llama_cpp as llama_cpp
from rote.export.targets import lm_eval as lm_eval
from rote.export.targets import onnx_graph as onnx_graph
from rote.export.targets import torch_state as torch_state
from rote.export.targets import transformerlens as transformerlens
