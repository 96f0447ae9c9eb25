// The drawing of src's folders (docs/rooms.svg): a row for each, with a mark under every folder that it may import from.
// From the outside in: where no two folders import each other, in a circle or not, every mark is right of the diagonal.

const CELL = 30;
const NAMES = 110;
const HEAD = 92;
const FOOT = 44;

/** `rooms`: each folder with the folders (`infra`), or parts of them (`infra/postgres`), that it may import from. */
export function drawRooms(rooms) {
  const order = fromTheOutsideIn(rooms);
  const width = NAMES + order.length * CELL + 70;
  const height = HEAD + order.length * CELL + FOOT;
  const x = (room) => NAMES + order.indexOf(room) * CELL + CELL / 2;
  const y = (room) => HEAD + order.indexOf(room) * CELL + CELL / 2;
  const rows = order.map((room) => {
    const marks = importedBy(rooms, room).map(({ to, isWhole }) => mark(x(to), y(room), isWhole));
    const line = `<line x1="${NAMES}" y1="${y(room)}" x2="${NAMES + order.length * CELL}" y2="${y(room)}"/>`;
    const self = `<rect class="self" x="${x(room) - 11}" y="${y(room) - 11}" width="22" height="22" rx="4"/>`;
    return `<g>${line}${self}<text class="room" x="${NAMES - 12}" y="${y(room) + 5}">${room}</text>${marks.join('')}</g>`;
  });
  const heads = order.map(
    (room) =>
      `<text class="head" transform="translate(${x(room) + 4} ${HEAD - 8}) rotate(-45)">${room}</text>`,
  );
  const legendY = height - 18;
  const legend =
    `${mark(NAMES + 8, legendY - 4, true)}<text x="${NAMES + 22}" y="${legendY}">may import it</text>` +
    `${mark(NAMES + 158, legendY - 4, false)}<text x="${NAMES + 172}" y="${legendY}">may import a part of it</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>Which folder of src may import which</title>
${STYLE}<rect class="paper" width="${width}" height="${height}" rx="8"/>
${[...heads, ...rows, legend].join('\n')}
</svg>
`;
}

/** It has a background of its own: it is read alike on a light page and on a dark one. */
const STYLE = `<style>
  text { font: 14px ui-sans-serif, system-ui, sans-serif; fill: #1f2937 }
  .room { text-anchor: end; font-weight: 600 }
  .paper { fill: #f8fafc }
  line { stroke: #dbe2ea }
  .self { fill: #cbd5e1 }
  .whole { fill: #2563eb }
  .part { fill: none; stroke: #2563eb; stroke-width: 2.5 }
</style>
`;

function mark(x, y, isWhole) {
  return isWhole
    ? `<circle class="whole" cx="${x}" cy="${y}" r="6.5"/>`
    : `<circle class="part" cx="${x}" cy="${y}" r="5.5"/>`;
}

/** A file beside the folders (version.ts) is no folder. */
function importedBy(rooms, room) {
  const wholes = rooms[room].filter((path) => path in rooms);
  const parts = rooms[room]
    .map((path) => path.split('/')[0])
    .filter((to) => to in rooms && !wholes.includes(to));
  return [
    ...wholes.map((to) => ({ to, isWhole: true })),
    ...[...new Set(parts)].map((to) => ({ to, isWhole: false })),
  ];
}

/** Each folder before all that it imports. */
function fromTheOutsideIn(rooms) {
  const order = [];
  let left = Object.keys(rooms);
  while (left.length > 0) {
    const imported = new Set(left.flatMap((room) => importedBy(rooms, room).map(({ to }) => to)));
    const outermost = left.filter((room) => !imported.has(room));
    if (outermost.length === 0) throw new Error(`these folders of src import each other: ${left.join(', ')}`);
    order.push(...outermost);
    left = left.filter((room) => imported.has(room));
  }
  return order;
}
