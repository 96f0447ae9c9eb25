// What the caller of a voice call wants, turn by turn: lookups, and bookings that are made and cancelled again.
const DAY_MS = 86_400_000;
const SLOT_MS = 1_800_000;
const NOBODYS = '00000000-0000-4000-8000-000000000000';
const SERVICE = 'Haircut';

/** `place`: which of its business's callers it is. No two of them want the same time. */
export function turnsOf({ index, place, tenant }) {
  const mine = { customer_phone: `+615${String(index).padStart(8, '0')}` };
  let booking = NOBODYS;
  return (turn) => {
    const known = { customer_phone: `+614${String((index * 37 + turn) % 2000).padStart(8, '0')}` };
    const day = new Date(Date.now() + (200 + turn) * DAY_MS).toISOString().slice(0, 10);
    const start = new Date(Date.parse(`${day}T00:00:00Z`) + place * SLOT_MS).toISOString();
    const topic = `topic ${((index + turn) % 20) + 1}`;
    return [
      [
        { tool: 'get_latest_booking', args: known },
        { tool: 'get_policies', args: { topic } },
      ],
      [
        { tool: 'get_services', args: {} },
        { tool: 'get_faqs', args: { topic: `tag ${((index + turn) % 20) + 1}` } },
      ],
      [
        { tool: 'get_availability', args: { service: SERVICE, date: day } },
        { tool: 'get_working_hours', args: {} },
      ],
      [
        {
          tool: 'create_booking',
          args: { ...mine, service: SERVICE, start_time: start, customer_name: `Caller of ${tenant}` },
          heard: (made) => (booking = made?.booking_id ?? NOBODYS),
        },
        { tool: 'get_booking_by_id', args: { booking_id: booking } },
      ],
      [
        { tool: 'cancel_booking', args: { ...mine, booking_id: booking } },
        { tool: 'get_latest_booking', args: known },
      ],
    ][turn % 5];
  };
}
