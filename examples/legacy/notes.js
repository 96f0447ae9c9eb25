// Notes about customers, in memory.

const notes = { ann: ['Prefers mornings.', 'Pays by card.'] };

export function execute({ customer, limit }) {
  return { customer, notes: (notes[customer] ?? []).slice(0, limit) };
}
