// Unusable: why one method cannot be a tool. It is left out, and the operator is told. The message completes "the method …".
export class Unusable extends Error {}
