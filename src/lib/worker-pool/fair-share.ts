// FairShare: when a tenant may take a free slot or join the queue, so that no tenant can hold all of them.

/**
 * The settings say how many slots one tenant may hold; there is one more, the kept slot, for a tenant that holds none.
 * So there is one for the next tenant even where the settings say one.
 */
export const KEPT_SLOTS = 1;

export function mayTakeSlot(perTenant: number, inUse: number, heldByTenant: number): boolean {
  return inUse < (heldByTenant > 0 ? perTenant : perTenant + KEPT_SLOTS);
}

/**
 * The settings say how many calls of one tenant may wait while nobody else's do; of all tenants, twice as many. Each may
 * wait with no more calls than the queue still takes: there is always space for another tenant.
 */
export function mayWait(perTenant: number, waiting: number, waitingOfTenant: number): boolean {
  return waitingOfTenant < 2 * perTenant - waiting;
}
