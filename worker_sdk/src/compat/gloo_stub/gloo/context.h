// Stands in for a header of Gloo; see gloo/rendezvous/store.h.
#pragma once

#include <gloo/rendezvous/store.h>
