// DDP_API marks what libddp, a shared library with hidden symbols, gives to programs.
#pragma once

#define DDP_API [[gnu::visibility("default")]]
