// Only carries the precompiled header of ddprun_uses_torch().
