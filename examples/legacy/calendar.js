// A calendar in memory, one function per action.

const events = [];

export function list_events({ time_min: from, max_results: most }) {
  return { events: events.filter(({ start }) => start >= from).slice(0, most) };
}

export function create_event({ title, start_time: start, duration_minutes: minutes }) {
  const end = new Date(Date.parse(start) + minutes * 60_000).toISOString();
  const event = { title, start, end };
  events.push(event);
  return event;
}
