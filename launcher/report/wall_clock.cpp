#include "launcher/report/wall_clock.h"

#include <cstdio>
#include <ctime>

namespace ddprun::report {

std::string iso_time(const WallClock& clock, supervise::Time when) {
  using std::chrono::nanoseconds;
  constexpr long long kSecond = 1'000'000'000;
  const nanoseconds wall = std::chrono::duration_cast<nanoseconds>(clock.wall.time_since_epoch()) +
                           (when - clock.steady);
  const std::time_t whole = wall.count() / kSecond;
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  char day[32];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  char text[64];
  std::snprintf(text, sizeof text, "%s.%09lldZ", day, wall.count() % kSecond);
  return text;
}

}  // namespace ddprun::report
