// A small shop: orders, customers and parcels, held in memory.

const ORDERS = {
  c1: [
    { id: 'o1', parcel: 'p1', open: true },
    { id: 'o2', parcel: 'p2', open: false },
    { id: 'o3', parcel: 'p3', open: true },
  ],
  c2: [{ id: 'o4', parcel: 'p4', open: false }],
};

export function find_orders({ customer_id: id }) {
  return Object.hasOwn(ORDERS, id) ? ORDERS[id] : [];
}

export function customer_profile({ customer_id: id }) {
  if (id === 'c1') return { name: 'Ada', language: 'en' };
  throw Object.assign(new Error('There is no profile of this customer.'), { type: 'NOT_FOUND' });
}

export function track_parcel({ parcel }) {
  return { parcel, place: parcel === 'p1' ? 'Leipzig' : 'on the van' };
}
