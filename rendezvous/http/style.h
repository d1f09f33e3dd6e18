// How the status page looks: in the light and in the dark, on a desk and on a phone. States are
// words in a frame, so nothing is said by a colour alone.
#pragma once

namespace ddprun::http {

// On a narrow screen a row of the table becomes a few lines, with the names of the columns (the
// attribute data-is) in front of what needs one.
inline constexpr char kStyle[] = R"(<style>
:root { color-scheme: light dark; --line: #d0d4d9; --soft: #5c6570; --card: #fff; --page: #f4f5f7;
  --text: #1b1f24; --good: #1a7f37; --busy: #8a5c00; --bad: #c62828; }
@media (prefers-color-scheme: dark) {
  :root { --line: #343b43; --soft: #9aa4ae; --card: #1a1f24; --page: #101316; --text: #e6e9ec;
    --good: #4ac26b; --busy: #d4a72c; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; background: var(--page);
  color: var(--text); font: 16px/1.45 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.3rem; }
h2 { margin: 0; font-size: 1.1rem; overflow-wrap: anywhere; }
p { margin: .3rem 0; overflow-wrap: anywhere; }
ul { display: flex; flex-wrap: wrap; gap: 0 1.4rem; margin: .3rem 0; padding: 0; list-style: none; }
a { color: inherit; }
small { color: var(--soft); font-size: .85rem; }
.soft { color: var(--soft); }
.run { margin-top: 1rem; padding: .8rem 1rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; }
.state { display: inline-block; padding: 0 .5rem; border: 1px solid currentColor;
  border-radius: 1rem; font-size: .85rem; font-weight: 600; white-space: nowrap; }
.running, .working, .finished { color: var(--good); }
.waiting, .resuming, .stopping, .spare { color: var(--busy); }
.away, .failure { color: var(--bad); }
.failure pre { color: var(--text); }
.wide { overflow-x: auto; }
table { width: 100%; margin-top: .5rem; border-collapse: collapse;
  font-variant-numeric: tabular-nums; }
th, td { padding: .25rem 1rem .25rem 0; border-top: 1px solid var(--line); text-align: left;
  vertical-align: baseline; white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; text-align: right; }
td.free { white-space: normal; overflow-wrap: anywhere; min-width: 8rem; }
th { color: var(--soft); font-weight: 600; font-size: .85rem; }
pre { margin: .3rem 0; padding: .5rem; overflow-x: auto; border: 1px solid var(--line);
  border-radius: .3rem; font-size: .85rem; }
@media (max-width: 48rem) {
  body { padding: .6rem; }
  table, tbody { display: block; }
  thead, td:empty { display: none; }
  tr { display: flex; flex-wrap: wrap; gap: 0 .9rem; padding: .3rem 0;
    border-top: 1px solid var(--line); align-items: baseline; }
  td, td:last-child { padding: 0; border: 0; text-align: left; white-space: normal;
    overflow-wrap: anywhere; }
  td.free { min-width: 0; }
  td[data-is]::before { content: attr(data-is) " "; color: var(--soft); font-size: .85rem; } }
</style>
)";

}  // namespace ddprun::http
