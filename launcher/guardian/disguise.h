// Gives the launcher another name in process lists than its guardian.
#pragma once

namespace ddprun::guardian {

// Overwrites the name and the command line of this process, so that `pkill -9 ddprun` or `pkill -9
// -f train` hits only one of ddprun's two processes and the other one can clear up. The words of
// argv are gone afterwards: copy them first.
void disguise(int argc, char** argv);

}  // namespace ddprun::guardian
