/* What libFuzzer offers to its targets: https://llvm.org/docs/LibFuzzer.html */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's own mutation of some bytes, for a custom mutator to build on (FuzzerInterface.h). */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
