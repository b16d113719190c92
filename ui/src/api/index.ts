export * from "./http";
export * from "./shapes";
export * from "./stream";
export * from "./verbs";
