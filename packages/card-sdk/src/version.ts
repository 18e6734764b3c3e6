/** What this library calls itself towards the host. */
export const SDK = "toolwire-card-sdk/0.1.0";
