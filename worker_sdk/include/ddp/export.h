// DDP_API marks what libddp, a shared library with hidden symbols, gives to programs.
#pragma once

// Marks what the shared library offers.
#define DDP_API [[gnu::visibility("default")]]
