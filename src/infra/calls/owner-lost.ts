// OWNER_LOST: why the gateway itself ended a call for want of an outcome; an outcome that comes late is still the truth.
export const OWNER_LOST = 'OWNER_LOST';
