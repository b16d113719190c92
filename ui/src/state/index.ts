export * from "./apply";
export * from "./conversation";
export * from "./events";
export * from "./looks";
export * from "./phase";
export * from "./turn";
