// The visibility of symbols.
#pragma once

// Marks what libddp, a shared library with hidden symbols, gives to programs.
#define DDP_API [[gnu::visibility("default")]]
