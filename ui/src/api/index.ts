export * from "./base";
export * from "./http";
export * from "./schemas";
export * from "./stream";
export * from "./verbs";
