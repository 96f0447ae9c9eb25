// Orders of two businesses. Which one it is comes from the credential, never from the model.
const ORDERS = { acme: ['anvil', 'rope'], umbrella: ['parasol'] };

export const list_orders = (_args, { tenantId }) => ({ of: tenantId, orders: ORDERS[tenantId] ?? [] });

export const refund = ({ order, amount }, { tenantId }) => ({ of: tenantId, order, refunded: amount });
