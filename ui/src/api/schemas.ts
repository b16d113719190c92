/** The server's bodies under the page's names; what the server passes on unread has the type the page reads it by. */

import type * as api from "./schemas.generated";
import type { JsonSchema } from "../state";

export type {
  Approval,
  AttachedResource,
  ServerPrompt,
  ServerResource,
  ServerTemplate,
  FilledServerPrompt,
  ResourceContent,
  Conversation as ConversationInfo,
  ConversationList,
  Decision,
  ErrorCode,
  Failed,
  Finding,
  FoundConfig,
  FoundConfigs,
  GalleryEntry,
  ImportedServers,
  MissingValue,
  Limit,
  LimitList,
  LocalServer,
  ModelInfo,
  GrantCoverage,
  GrantTried,
  Permission,
  PermissionLayer,
  PermissionVerdict,
  Replayed,
  ReplayedCall,
  Scope,
  SessionInfo,
  SessionList,
  TokenInfo,
  TokenList,
  TokenMade,
  ModelList,
  Persona,
  NewPersona,
  NewProvider,
  NewServer,
  PersonaChange,
  Provider,
  ProviderChange,
  ProviderTest,
  ResultPiece,
  SearchState,
  Server,
  ServerList,
  ServerChange,
  ServerLoginBegun as SignInBegun,
  Turn as TurnInfo,
  WebSearch,
} from "./schemas.generated";

/** What the protocol lets a server claim of a tool. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

interface PassedOn {
  input_schema: JsonSchema;
  annotations: ToolAnnotations;
}

export type AvailableTool = Omit<api.AvailableTool, keyof PassedOn | "approval"> &
  PassedOn & { approval: api.Approval | "" };
export type AvailableTools = Omit<api.AvailableTools, "available_tools"> & {
  available_tools: AvailableTool[];
};

export type ToolDefinition = Pick<api.ServerTool, "title" | "description" | "hash"> & PassedOn;
export type ServerTool = Omit<api.ServerTool, keyof ToolDefinition | "was"> &
  ToolDefinition & { was?: Omit<ToolDefinition, "hash"> };

/** A rule as the server gives it, with every field but the earlier spelling of `approval`. */
type RuleSet = "approval" | "server" | "tool" | "arguments" | "hint" | "name";
/** What a person sets is always there; what the server adds is there once it was saved. */
export type Rule = Required<Pick<api.Rule, RuleSet>> & Omit<api.Rule, RuleSet | "then">;
