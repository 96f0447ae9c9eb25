// A salon's calendar that changes while one looks: the first slot found is gone the second time, and ids are never alike.

let taken = 0;

export function find_slots({ day }) {
  const slots = ['09:00', '10:30', '14:00', '16:15'].slice(taken % 4).map((time) => `${day}T${time}`);
  taken += 1;
  return { slots };
}

export function book_slot({ slot, phone }) {
  const booking = Math.random().toString(36).slice(2, 10);
  return { ok: true, data: { booking, slot, reminder_to: phone }, intents: [{ type: 'END_VOICE_SESSION' }] };
}
