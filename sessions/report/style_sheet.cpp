#include "sessions/report/style_sheet.h"

namespace firsttoken::sessions {

std::string_view reportStyle() {
    return R"css(
:root {
  color-scheme: light dark;
  --surface: #FFFFFF; --raised: #F6F7F9; --border: #D8DCE2; --text: #1B1F24; --muted: #57606A; --accent: #0B63C5;
  --good: #1A7F37; --bad: #C62828; --caution: #9A6700; --grid: #E9ECF0;
  --blue: #0072B2; --orange: #E69F00; --green: #009E73; --vermilion: #D55E00; --purple: #CC79A7; --sky: #56B4E9;
  --grey: #8C959F;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --surface: #15181C; --raised: #1D2126; --border: #343A42; --text: #E6E9ED; --muted: #9AA4AF; --accent: #6CB2FF;
    --good: #56D364; --bad: #FF7B72; --caution: #E3B341; --grid: #262B31;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--surface); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1048px; margin: 0 auto; padding: 24px 24px 48px; }
h1 { font-size: 1.5em; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.25em; line-height: 1.3; margin: 40px 0 8px; overflow-wrap: anywhere; }
h3 { font-size: 1.05em; margin: 28px 0 8px; }
h4 { font-size: 1em; margin: 20px 0 4px; }
p { margin: 4px 0; overflow-wrap: anywhere; }
a { color: var(--accent); }
.lead, .note { color: var(--muted); font-size: 0.87em; }
td .note, th .note, li .note { display: block; font-weight: normal; }
.good { color: var(--good); } .bad { color: var(--bad); } .caution { color: var(--caution); }
.failure { border-left: 3px solid var(--bad); padding-left: 10px; }
h1, h2, p, td, th, li, dd, summary, pre { unicode-bidi: isolate; }
.figures { display: grid; grid-template-columns: repeat(3, 1fr); gap: 8px; margin: 16px 0; }
.figures div { background: var(--raised); border: 1px solid var(--border); border-radius: 4px; padding: 8px 16px; }
.figures dt { color: var(--muted); font-size: 0.87em; }
.figures dd { margin: 0; }
.figures .value { font-size: 1.4em; font-weight: 600; font-variant-numeric: tabular-nums; }
.figures .unknown { font-size: 1.1em; line-height: 1.9; color: var(--muted); }
.figures .good { color: var(--good); } .figures .bad { color: var(--bad); }
.scroll { overflow-x: auto; margin: 8px 0; }
table { border-collapse: collapse; font-size: 0.92em; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 4px 8px; border-bottom: 1px solid var(--border); }
thead th { color: var(--muted); font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: normal; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
table.rows { font-size: 0.84em; }
table.rows td, table.rows th { padding: 2px 6px; }
table.rows thead th { white-space: normal; }
table.rows .end { white-space: nowrap; }
table.rows .detail { min-width: 130px; overflow-wrap: anywhere; }
table.side tbody th { white-space: nowrap; }
table.recipe th { width: 32%; }
table.recipe td { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
tr.changed td { color: var(--caution); }
tr.primary th { font-weight: 600; }
.interval-cell { white-space: nowrap; }
.verdict { font-size: 1.1em; }
pre { background: var(--raised); border: 1px solid var(--border); border-radius: 4px; padding: 8px 12px;
  font-size: 0.84em; white-space: pre-wrap; overflow-wrap: anywhere; columns: 20em; }
details { margin: 8px 0; }
summary { color: var(--accent); cursor: pointer; }
.marks { padding-left: 20px; margin: 4px 0; font-size: 0.92em; overflow-wrap: anywhere; }
.conversation { max-width: 760px; }
.conversation p { white-space: pre-wrap; }
.conversation .asked { background: var(--raised); border-radius: 4px; padding: 8px 12px; margin-top: 16px; }
.conversation .answered { padding: 4px 12px; }
.conversation .note { padding: 0 12px; }
dl.words { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; font-size: 0.87em; }
dl.words dt { font-weight: 600; } dl.words dd { margin: 0; color: var(--muted); }
footer { margin-top: 40px; border-top: 1px solid var(--border); padding-top: 8px; }

svg.chart { display: block; width: 100%; height: auto; margin: 8px 0; overflow: visible; }
svg.patterns { position: absolute; }
svg.interval { width: 180px; height: 18px; display: block; }
svg text { font: 12px system-ui, sans-serif; fill: var(--text); font-variant-numeric: tabular-nums; }
svg text.title { font-weight: 600; }
svg text.muted, svg text.tick { fill: var(--muted); }
svg text.tick { font-size: 11px; }
svg text.mark-label { font-size: 11px; fill: var(--muted); }
svg text.limit-label { font-size: 11px; fill: var(--accent); }
svg text.limit-label, svg text.empty { stroke: var(--surface); stroke-width: 4; paint-order: stroke; }
.grid { stroke: var(--grid); stroke-width: 1; }
.base { stroke: var(--border); stroke-width: 1; }
.mark { stroke: var(--muted); stroke-width: 1; stroke-dasharray: 2 3; }
.limit { stroke: var(--accent); stroke-width: 1; stroke-dasharray: 6 4; }
.baseline { stroke: var(--grey); stroke-width: 1; stroke-dasharray: 4 3; }
.warmup-ground, .margin-ground { fill: var(--raised); }
.margin-ground { stroke: var(--border); stroke-width: 0.5; }
.line { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
.dashed { stroke-dasharray: 5 3; }
.dots { fill: none; stroke-width: 3.4; stroke-linecap: round; }
.dots.many { stroke-width: 2.4; }
.ring { fill: none; stroke-width: 1.3; }
.ring.queued { stroke: var(--grey); }
.outline { fill: none; stroke: var(--grey); stroke-width: 1; }
.line.decoding, .dots.decoding { stroke: var(--blue); } .dot.decoding { fill: var(--blue); }
.line.prefilling { stroke: var(--orange); }
.dots.warmup { stroke: var(--grey); } .dot.warmup { fill: var(--grey); }
.dots.queued { stroke: var(--grey); }
.line.failure { stroke: var(--vermilion); stroke-width: 1.6; }
.line.device { stroke: var(--green); } .line.machine { stroke: var(--purple); }
.line.rate { stroke: var(--sky); } .line.power { stroke: var(--vermilion); }
.area.decoding, .area.referenced { fill: var(--blue); }
.area.prefilling { fill: url(#hatch-prefilling); }
.area.queued { fill: url(#hatch-queued); }
.area.cached { fill: url(#hatch-cached); }
.ground { fill: var(--surface); }
.ground.prefilling, .stripe.prefilling { fill: var(--orange); } .ground.prefilling { fill-opacity: 0.35; }
.ground.queued, .stripe.queued { fill: var(--grey); } .ground.queued { fill-opacity: 0.3; }
.ground.cached, .stripe.cached { fill: var(--sky); } .ground.cached { fill-opacity: 0.3; }
.session-0 { stroke: var(--blue); } .session-1 { stroke: var(--vermilion); } .session-2 { stroke: var(--green); }
.session-3 { stroke: var(--orange); } .session-4 { stroke: var(--purple); } .session-5 { stroke: var(--sky); }
.session-6 { stroke: var(--grey); }
.dash-1 { stroke-dasharray: 7 3; } .dash-2 { stroke-dasharray: 2 2; } .dash-3 { stroke-dasharray: 8 3 2 3; }

@media (max-width: 640px) { .figures { grid-template-columns: 1fr 1fr; } main { padding: 16px; } }
@media print {
  :root { color-scheme: light; }
  @page { margin: 14mm; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  h2, h3, h4 { break-after: avoid; }
  svg.chart, .figures, tr { break-inside: avoid; }
  section.session { break-before: page; }
  section.session.first { break-before: auto; }
  .scroll { overflow: visible; }
  details { display: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";
}

}  // namespace firsttoken::sessions
