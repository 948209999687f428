/* The grammar. Actions only build the tree (ast.h). Tokens come from an array in which keywords are
 * already told from names (token.h), so nothing is reserved here. Values live in the compilation's
 * region: there is nothing to destroy when recovery drops them, which is why the %destructor below
 * is empty.
 *
 * Recovery. A missing ';' at the end of a line is reported there and the statement counts as
 * complete (`semi`). After any other mistake parser_skip() moves on to the end of the statement,
 * braces balanced, and the rules `error ';'` and `error '}'` pick up from there. */
%code top {
#include <string.h>
}

%code requires {
#include "dsl/syntax/ast.h"
}

%define api.pure full
%define api.prefix {heddle_yy}
%define api.location.type {struct span}
%define parse.error custom
%define parse.lac full
%locations
%param { struct parser *p }
%expect 0

%union {
    struct token token;
    struct ast_name name;
    struct ast_expr *expr;
    struct ast_exprs *exprs;
    struct ast_names *names;
    struct ast_type *type;
    struct ast_item *item;
    struct ast_items *items;
    struct ast_range range;
    struct ast_param_options param;
    struct ast_port_options port;
    struct ast_slot_options slot;
    struct ast_connect_options connect;
    struct ast_fact_options fact;
    bool flag;
}

%code provides {
/* The two start symbols. */
#define PARSE_FILE FILE_START
#define PARSE_EXPRESSION EXPRESSION_START
}

%code {
static int heddle_yylex(HEDDLE_YYSTYPE *value, HEDDLE_YYLTYPE *location, struct parser *p);
static void heddle_yyerror(HEDDLE_YYLTYPE *location, struct parser *p, const char *message);

#define YYLLOC_DEFAULT(current, rhs, n)                                            \
    do {                                                                           \
        if (n) {                                                                   \
            (current).begin = YYRHSLOC(rhs, 1).begin;                              \
            (current).end = YYRHSLOC(rhs, n).end;                                  \
        } else {                                                                   \
            (current).begin = (current).end = YYRHSLOC(rhs, 0).end;                \
        }                                                                          \
    } while (0)

static struct ast_name name_of(struct token token)
{
    return (struct ast_name){ token.text, token.span };
}

static struct ast_expr *binary(struct parser *p, struct span span, struct ast_expr *a, int op,
                               struct ast_expr *b)
{
    struct ast_expr *e = ast_expr_new(p, AST_BINARY, span);
    e->op = op;
    return ast_expr_join(p, e, a, b, NULL);
}

static const struct ast_name no_name = { NULL, { 0, 0 } };

static struct ast_expr *member_of(struct parser *p, struct ast_expr *of, struct ast_name name,
                                  struct span span)
{
    struct ast_expr *e = ast_expr_new(p, AST_MEMBER, span);
    e->name = name;
    return ast_expr_join(p, e, of, NULL, NULL);
}

static struct ast_items *one(struct parser *p, struct ast_item *item)
{
    return ast_items_add(p, NULL, item);
}

/* An array where there can be none. */
static void indexed(struct parser *p, const struct ast_expr *index, const char *says,
                    const char *helps)
{
    struct diagnostic *d = diagnostic_add(p->diagnostics, E0008, index->span, "%s", says);
    diagnostic_help(p->diagnostics, d, "%s", helps);
    p->has_failed = true;
}

/* Says so when an option is given twice. */
static void once(struct parser *p, bool is_set, struct span span, const char *what)
{
    if (is_set)
        diagnostic_add(p->diagnostics, E0206, span, "'%s' is given twice", what);
}
}

%token END 0 "the end of the file"
%token <token> WORD "a name" NUMBER "a number" STRING "a string"
%token ARROW "'->'" TO "'..'" UNTIL "'..<'" EQUAL "'=='" UNEQUAL "'!='" AT_MOST "'<='"
%token AT_LEAST "'>='" AND "'&&'" OR "'||'"
%token ';' "';'" ':' "':'" ',' "','" '.' "'.'" '=' "'='" '(' "'('" ')' "')'" '{' "'{'" '}' "'}'"
%token '[' "'['" ']' "']'"
%token '+' "'+'" '-' "'-'" '*' "'*'" '/' "'/'" '%' "'%'" '<' "'<'" '>' "'>'" '!' "'!'" '?' "'?'"
%token IMPORT "'import'" PROTOCOL "'protocol'" LINK "'link'" ENUM "'enum'" INTERFACE "'interface'"
%token PART "'part'" COMPONENT "'component'" PLATFORM "'platform'" PARAM "'param'" SLOT "'slot'"
%token INSERT "'insert'"
%token LET "'let'" CHECK "'check'" IN "'in'" OUT "'out'" STAT "'stat'" SPACE "'space'" MAP "'map'"
%token PARTITION "'partition'" CLOCK "'clock'" IF "'if'" FOR "'for'" ELSE "'else'" STORE "'store'"
%token READS "'reads'" BEHAVIOUR "'behaviour'" REQUEST "'request'" REPLY "'reply'"
%token OPTIONAL "'optional'" DEPTH "'depth'"
%token WIDTH "'width'" LATENCY "'latency'" VIA "'via'" OVER "'over'" BY "'by'"
%token COHERENCE "'coherence'" MEASURE "'measure'" OF "'of'"
%token EACH "'each'" INTERLEAVE "'interleave'" HASHED "'hashed'" AT "'at'" ON "'on'" POW2 "'pow2'"
%token FILE_START EXPRESSION_START

%type <items> file top_items top_item body members member block settings setting_items messages
%type <items> message fields field
%type <items> port_names files else_part link_body facts
%type <range> range
%type <param> param_options
%type <port> port_options
%type <slot> slot_options
%type <connect> connect_options
%type <fact> fact_options
%type <name> name type_name on_clock
%type <names> names literals
%type <type> type
%type <expr> expr postfix primary which setting_path hashed
%type <exprs> paths args arg_list
%type <flag> to

%destructor { } <*>

%right '?' ':'
%left OR
%left AND
%nonassoc EQUAL UNEQUAL '<' '>' AT_MOST AT_LEAST
%left '+' '-'
%left '*' '/' '%'
%precedence UNARY

%%

start: FILE_START file      { p->items = $2; }
     | EXPRESSION_START expr
                            { p->expression = $2; }
     ;

file: top_items             { $$ = $1; }
    ;

top_items: %empty           { $$ = ast_items_append(p, NULL, NULL); }
         | top_items top_item
                            { $$ = ast_items_append(p, $1, $2); }
         ;

semi: ';'
    | error
    ;

name: WORD                  { $$ = name_of($1); }
    ;

type_name: WORD             { $$ = name_of($1); }
         ;

names: name                 { $$ = ast_names_add(p, NULL, $1); }
     | names ',' name       { $$ = ast_names_add(p, $1, $3); }
     ;

literals: '{' names '}'     { $$ = $2; }
        | '{' names ',' '}' { $$ = $2; }
        ;

top_item: IMPORT STRING semi
                            { $$ = one(p, ast_item_new(p, AST_IMPORT, @$, name_of($2))); }
        | ENUM name literals
                            { struct ast_item *item = ast_item_new(p, AST_ENUM, @$, $2);
                              item->names = $3;
                              $$ = one(p, item); }
        | INTERFACE name semi
                            { $$ = one(p, ast_item_new(p, AST_INTERFACE, @$, $2)); }
        | LINK name link_body
                            { struct ast_item *item = ast_item_new(p, AST_LINK, @$, $2);
                              item->body = $3;
                              $$ = one(p, item); }
        | PROTOCOL name '{' messages '}'
                            { struct ast_item *item = ast_item_new(p, AST_PROTOCOL, @$, $2);
                              item->body = $4;
                              $$ = one(p, item); }
        | PROTOCOL name '(' fields ')' '{' messages '}'
                            { struct ast_item *item = ast_item_new(p, AST_PROTOCOL, @$, $2);
                              item->body = ast_items_append(p, $4, $7);
                              $$ = one(p, item); }
        | PART name body    { struct ast_item *item = ast_item_new(p, AST_PART, @$, $2);
                              item->body = $3;
                              $$ = one(p, item); }
        | PART name ':' type_name body
                            { struct ast_item *item = ast_item_new(p, AST_PART, @$, $2);
                              item->target = $4;
                              item->body = $5;
                              $$ = one(p, item); }
        | COMPONENT name body
                            { struct ast_item *item = ast_item_new(p, AST_COMPONENT, @$, $2);
                              item->body = $3;
                              $$ = one(p, item); }
        | PLATFORM name body
                            { struct ast_item *item = ast_item_new(p, AST_PLATFORM, @$, $2);
                              item->body = $3;
                              $$ = one(p, item); }
        | ';'               { $$ = NULL; }
        | error ';'         { $$ = NULL; }
        | error '}'         { $$ = NULL; }
        ;

link_body: settings         { $$ = $1; }
         ;

settings: '{' setting_items '}'
                            { $$ = $2; $$->span = @$; }
        | '{' setting_items error '}'
                            { $$ = $2; $$->span = @$; }
        ;

setting_items: %empty       { $$ = ast_items_append(p, NULL, NULL); }
             | setting_items setting_path '=' expr semi
                            { $$ = ast_items_add(p, $1,
                                                 ast_setting(p, $2, $4, NULL, span_join(@2, @5))); }
             | setting_items setting_path '=' type_name settings
                            { struct ast_expr *part = ast_expr_new(p, AST_NAME, @4);
                              part->name = $4;
                              $$ = ast_items_add(p, $1,
                                                 ast_setting(p, $2, part, $5, span_join(@2, @5))); }
             | setting_items INSERT name ':' type_name AT setting_path semi
                            { $$ = ast_items_add(p, $1, ast_insert(p, $3, $5, NULL, $7,
                                                                   span_join(@2, @8))); }
             | setting_items INSERT name ':' type_name settings AT setting_path semi
                            { $$ = ast_items_add(p, $1, ast_insert(p, $3, $5, $6, $8,
                                                                   span_join(@2, @9))); }
             | setting_items INSERT paths ARROW paths connect_options semi
                            { $$ = ast_items_add(p, $1, ast_connect(p, $3, $5, $6,
                                                                    span_join(@2, @7))); }
             | setting_items ';'
                            { $$ = $1; }
             | setting_items error ';'
                            { $$ = $1; }
             ;

/* A parameter or slot, of the instance or further down: "size", "sa[*].l1v.size". */
hashed: %empty              { $$ = NULL; }
      | ',' HASHED          { $$ = ast_expr_new(p, AST_NAME, @2);
                              $$->name = (struct ast_name){"true", @2}; }
      | ',' HASHED expr     { $$ = $3; }
      ;

setting_path: name          { $$ = ast_expr_new(p, AST_NAME, @$);
                              $$->name = $1; }
            | setting_path '.' name
                            { $$ = member_of(p, $1, $3, @$); }
            | setting_path which '.' name
                            { $$ = member_of(p, ast_expr_join(p, $2, $1, $2->b, $2->c), $4, @$); }
            ;

messages: %empty            { $$ = ast_items_append(p, NULL, NULL); }
        | messages message  { $$ = ast_items_append(p, $1, $2); }
        | messages ';'      { $$ = $1; }
        | messages error ';'
                            { $$ = $1; }
        ;

message: REQUEST name '{' fields '}'
                            { struct ast_item *item = ast_item_new(p, AST_MESSAGE, @$, $2);
                              item->body = $4;
                              $$ = one(p, item); }
       | REPLY name FOR names '{' fields '}'
                            { struct ast_item *item = ast_item_new(p, AST_MESSAGE, @$, $2);
                              item->is_reply = true;
                              item->names = $4;
                              item->body = $6;
                              $$ = one(p, item); }
       ;

/* Fields of a message end in ';'; arguments of a protocol are parted by ','. */
fields: %empty              { $$ = ast_items_append(p, NULL, NULL); }
      | fields field        { $$ = ast_items_append(p, $1, $2); }
      | fields ';'          { $$ = $1; }
      | fields ','          { $$ = $1; }
      | fields error ';'    { $$ = $1; }
      ;

field: name ':' type_name   { struct ast_item *item = ast_item_new(p, AST_FIELD, @$, $1);
                              item->target = $3;
                              $$ = one(p, item); }
     | name ':' type_name '[' expr ']'
                            { struct ast_item *item = ast_item_new(p, AST_FIELD, @$, $1);
                              item->target = $3;
                              item->size = $5;
                              $$ = one(p, item); }
     | name ':' type_name '[' expr ']' BY name
                            { struct ast_item *item = ast_item_new(p, AST_FIELD, @$, $1);
                              item->target = $3;
                              item->size = $5;
                              item->via = $8;
                              $$ = one(p, item); }
     ;

body: '{' members '}'       { $$ = $2; $$->span = @$; }
    | '{' members error '}' { $$ = $2; $$->span = @$; }
    ;

members: %empty             { $$ = ast_items_append(p, NULL, NULL); }
       | members member     { $$ = ast_items_append(p, $1, $2); }
       ;

block: '{' members '}'      { $$ = $2; $$->span = @$; }
     | '{' members error '}'
                            { $$ = $2; $$->span = @$; }
     ;

to: TO                      { $$ = false; }
  | UNTIL                   { $$ = true; }
  ;

range: IN expr to expr      { $$ = (struct ast_range){ $2, $4, $3 }; }
     ;

param_options: %empty       { $$ = (struct ast_param_options){ .pow2 = false }; }
             | param_options range
                            { once(p, $1.range.low != NULL, @2, "in");
                              $$ = $1;
                              $$.range = $2; }
             | param_options POW2
                            { once(p, $1.pow2, @2, "pow2");
                              $$ = $1;
                              $$.pow2 = true; }
             ;

port_options: %empty        { $$ = (struct ast_port_options){ .is_optional = false }; }
            | port_options OPTIONAL
                            { once(p, $1.is_optional, @2, "optional");
                              $$ = $1;
                              $$.is_optional = true; }
            | port_options DEPTH expr
                            { once(p, $1.depth != NULL, @2, "depth");
                              $$ = $1;
                              $$.depth = $3; }
            | port_options WIDTH expr
                            { once(p, $1.width != NULL, @2, "width");
                              $$ = $1;
                              $$.width = $3; }
            | port_options LATENCY expr
                            { once(p, $1.latency != NULL, @2, "latency");
                              $$ = $1;
                              $$.latency = $3; }
            ;

slot_options: %empty        { $$ = (struct ast_slot_options){ .is_optional = false }; }
            | slot_options OPTIONAL
                            { once(p, $1.is_optional, @2, "optional");
                              $$ = $1;
                              $$.is_optional = true; }
            | slot_options '=' type_name
                            { $$ = $1;
                              $$.value = ast_expr_new(p, AST_NAME, @3);
                              $$.value->name = $3; }
            | slot_options '=' type_name settings
                            { $$ = $1;
                              $$.value = ast_expr_new(p, AST_NAME, @3);
                              $$.value->name = $3;
                              $$.body = $4; }
            ;

files: STRING               { $$ = ast_behaviour(p, NULL, name_of($1), @1); }
     | files ',' STRING     { $$ = ast_behaviour(p, $1, name_of($3), @3); }
     ;
/* A list of names has only names and sizes; the declaration around it fills in the rest. */
port_names: postfix         { struct ast_item *item = ast_item_new(p, AST_PORT, @1, no_name);
                              if (ast_declared_name(p, $1, &item->name, &item->size))
                                  item->unsized = $1->kind == AST_ALL;
                              $$ = one(p, item); }
          | port_names ',' postfix
                            { struct ast_item *item = ast_item_new(p, AST_PORT, @3, no_name);
                              if (ast_declared_name(p, $3, &item->name, &item->size))
                                  item->unsized = $3->kind == AST_ALL;
                              $$ = ast_items_add(p, $1, item); }
          ;

type: type_name             { $$ = region_take(p->region, sizeof *$$);
                              *$$ = (struct ast_type){ .name = $1, .span = @$ }; }
    | type_name '/' type_name
                            { $$ = region_take(p->region, sizeof *$$);
                              *$$ = (struct ast_type){ .name = { region_printf(p->region, "%s/%s",
                                                                            $1.text, $3.text), @$ },
                                                       .span = @$ }; }
    | ENUM literals         { $$ = region_take(p->region, sizeof *$$);
                              *$$ = (struct ast_type){ .literals = $2, .span = @$ }; }
    ;

args: %empty                { $$ = NULL; }
    | '(' ')'               { $$ = NULL; }
    | '(' arg_list ')'      { $$ = $2; }
    ;

arg_list: expr              { $$ = ast_exprs_add(p, NULL, $1); }
        | arg_list ',' expr { $$ = ast_exprs_add(p, $1, $3); }
        ;

paths: postfix              { $$ = ast_exprs_add(p, NULL, $1); }
     | paths ',' postfix    { $$ = ast_exprs_add(p, $1, $3); }
     ;

on_clock: %empty            { $$ = (struct ast_name){ NULL, { 0, 0 } }; }
        | ON name           { $$ = $2; }
        ;

/* The chosen elements of an array of wires. */
which: '[' '*' ']'          { $$ = ast_expr_new(p, AST_ALL, @$); }
     | '[' expr ']'         { $$ = ast_expr_new(p, AST_INDEX, @$);
                              $$->b = $2; }
     | '[' expr to expr ']' { $$ = ast_expr_new(p, AST_SLICE, @$);
                              $$->half_open = $3;
                              $$->b = $2;
                              $$->c = $4; }
     ;

connect_options: %empty     { $$ = (struct ast_connect_options){ .via.text = NULL }; }
               | connect_options LATENCY expr
                            { once(p, $1.latency != NULL, @2, "latency");
                              $$ = $1;
                              $$.latency = $3; }
               | connect_options VIA name
                            { once(p, $1.via.text != NULL, @2, "via");
                              $$ = $1;
                              $$.via = $3; }
               | connect_options VIA name which
                            { once(p, $1.via.text != NULL, @2, "via");
                              $$ = $1;
                              $$.via = $3;
                              $$.which = $4; }
               | connect_options VIA name '=' type_name on_clock
                            { once(p, $1.via.text != NULL, @2, "via");
                              $$ = $1;
                              $$.via = $3;
                              $$.type = $5;
                              $$.on = $6; }
               | connect_options VIA name '=' type_name on_clock settings
                            { once(p, $1.via.text != NULL, @2, "via");
                              $$ = $1;
                              $$.via = $3;
                              $$.type = $5;
                              $$.on = $6;
                              $$.body = $7; }
               | connect_options via_array
               | connect_options via_array settings
                            { $$ = $1;
                              (void)$3; }
               | connect_options OVER name
                            { once(p, $1.over.text != NULL, @2, "over");
                              $$ = $1;
                              $$.over = $3; }
               | connect_options BY SPACE postfix
                            { once(p, $1.by != NULL, @2, "by");
                              $$ = $1;
                              $$.by = $4; }
               | connect_options ELSE postfix
                            { once(p, $1.otherwise != NULL, @2, "else");
                              $$ = $1;
                              $$.otherwise = $3; }
               ;

via_array: VIA name which '=' type_name on_clock
                            { indexed(p, $3, "an interconnect has a name and no index",
                                      "an array of a component with the connection inside has "
                                      "one each");
                              (void)$2, (void)$5, (void)$6; }
         ;

else_part: %empty           { $$ = NULL; }
         | ELSE block       { $$ = $2; }
         | ELSE IF expr block else_part
                            { struct ast_item *item = ast_item_new(p, AST_IF, @$, no_name);
                              item->value = $3;
                              item->body = $4;
                              item->otherwise_body = $5;
                              $$ = one(p, item); }
         ;

member: PARAM name ':' type param_options semi
                            { $$ = one(p, ast_param(p, $2, $4, NULL, $5, @$)); }
      | PARAM name ':' type '=' expr param_options semi
                            { $$ = one(p, ast_param(p, $2, $4, $6, $7, @$)); }
      | LET name '=' expr semi
                            { struct ast_item *item = ast_item_new(p, AST_LET, @$, $2);
                              item->value = $4;
                              $$ = one(p, item); }
      | CHECK expr semi     { struct ast_item *item = ast_item_new(p, AST_CHECK, @$, no_name);
                              item->value = $2;
                              $$ = one(p, item); }
      | CHECK expr ',' STRING semi
                            { struct ast_item *item = ast_item_new(p, AST_CHECK, @$, name_of($4));
                              item->value = $2;
                              $$ = one(p, item); }
      | IN port_names ':' type_name args port_options semi
                            { $$ = ast_ports(p, $2, true, $4, $5, $6, @$); }
      | OUT port_names ':' type_name args port_options semi
                            { $$ = ast_ports(p, $2, false, $4, $5, $6, @$); }
      | STAT names ':' type_name semi
                            { $$ = ast_stats(p, $2, $4, @$); }
      | MEASURE name '=' expr OF expr semi
                            { struct ast_item *item = ast_item_new(p, AST_MEASURE, @$, $2);
                              item->value = $4;
                              item->whole = $6;
                              $$ = one(p, item); }
      | SLOT name ':' type_name slot_options semi
                            { $$ = one(p, ast_slot(p, $2, $4, $5, @$)); }
      | SLOT name which ':' type_name slot_options semi
                            { indexed(p, $3, "a slot takes one part",
                                      "a part in it may own several: 'part NAME[n] : PART;'");
                              (void)$2, (void)$5, (void)$6;
                              $$ = NULL; }
      | PART postfix ':' type_name semi
                            { $$ = one(p, ast_subpart(p, $2, $4, NULL, @$)); }
      | PART postfix ':' type_name settings
                            { $$ = one(p, ast_subpart(p, $2, $4, $5, @$)); }
      | STORE name ':' type_name semi
                            { struct ast_item *item = ast_item_new(p, AST_STORE, @$, $2);
                              item->target = $4;
                              $$ = one(p, item); }
      | READS name ':' type_name semi
                            { struct ast_item *item = ast_item_new(p, AST_READS, @$, $2);
                              item->target = $4;
                              $$ = one(p, item); }
      | CLOCK name semi     { $$ = one(p, ast_item_new(p, AST_CLOCK, @$, $2)); }
      | CLOCK name '=' expr semi
                            { struct ast_item *item = ast_item_new(p, AST_CLOCK, @$, $2);
                              item->value = $4;
                              $$ = one(p, item); }
      | BEHAVIOUR files semi
                            { $$ = $2; }
      | SPACE name ':' paths ',' EACH expr semi
                            { struct ast_item *item = ast_item_new(p, AST_SPACE, @$, $2);
                              item->left = $4;
                              item->each = $7;
                              $$ = one(p, item); }
      | SPACE name ':' paths ',' EACH expr ',' INTERLEAVE expr hashed semi
                            { struct ast_item *item = ast_item_new(p, AST_SPACE, @$, $2);
                              item->left = $4;
                              item->each = $7;
                              item->interleave = $10;
                              item->hashed = $11;
                              $$ = one(p, item); }
      | MAP paths semi      { struct ast_item *item = ast_item_new(p, AST_MAP, @$, no_name);
                              item->left = $2;
                              $$ = one(p, item); }
      | MAP paths AT expr semi
                            { struct ast_item *item = ast_item_new(p, AST_MAP, @$, no_name);
                              item->left = $2;
                              item->at = $4;
                              $$ = one(p, item); }
      | PARTITION paths semi
                            { struct ast_item *item = ast_item_new(p, AST_PARTITION, @$, no_name);
                              item->left = $2;
                              $$ = one(p, item); }
      | IF expr block else_part
                            { struct ast_item *item = ast_item_new(p, AST_IF, @$, no_name);
                              item->value = $2;
                              item->body = $3;
                              item->otherwise_body = $4;
                              $$ = one(p, item); }
      | FOR name range block
                            { struct ast_item *item = ast_item_new(p, AST_FOR, @$, $2);
                              item->low = $3.low;
                              item->high = $3.high;
                              item->half_open = $3.half_open;
                              item->body = $4;
                              $$ = one(p, item); }
      | COHERENCE '{' facts '}'
                            { struct ast_item *item = ast_item_new(p, AST_COHERENCE, @1, no_name);
                              item->body = $3;
                              $$ = one(p, item); }
      | postfix ':' type_name on_clock semi
                            { $$ = one(p, ast_instance(p, $1, $3, $4, NULL, @$)); }
      | postfix ':' type_name on_clock settings
                            { $$ = one(p, ast_instance(p, $1, $3, $4, $5, @$)); }
      | paths ARROW paths connect_options semi
                            { $$ = one(p, ast_connect(p, $1, $3, $4, @$)); }
      | postfix '=' expr semi
                            { struct diagnostic *d = diagnostic_add(p->diagnostics, E0008, $1->span,
                                  "a value cannot be set here");
                              diagnostic_help(p->diagnostics, d,
                                  "write 'let NAME = ...;' for a derived "
                                  "value, or set a parameter in the braces of its instance");
                              (void)$3;
                              p->has_failed = true;
                              $$ = NULL; }
      | ';'                 { $$ = NULL; }
      | error ';'           { $$ = NULL; }
      ;

/* Statements about a component for the proof of coherence. The verbs are no keywords. */
facts: %empty               { $$ = ast_items_append(p, NULL, NULL); }
     | facts name paths fact_options semi
                            { $$ = ast_items_add(p, $1, ast_fact(p, $2, $3, $4,
                                                                 span_join(@2, @4))); }
     | facts ';'            { $$ = $1; }
     | facts error ';'      { $$ = $1; }
     ;

fact_options: %empty        { $$ = (struct ast_fact_options){ .right = NULL }; }
            | fact_options ARROW paths
                            { once(p, $1.right != NULL, @2, "->");
                              $$ = $1;
                              $$.right = $3; }
            | fact_options AT paths
                            { once(p, $1.at_what != NULL, @2, "at");
                              $$ = $1;
                              $$.at_what = $3; }
            | fact_options ':' paths
                            { once(p, $1.operands != NULL, @2, ":");
                              $$ = $1;
                              $$.operands = $3; }
            | fact_options IF expr
                            { once(p, $1.condition != NULL, @2, "if");
                              $$ = $1;
                              $$.condition = $3; }
            ;

expr: postfix
    | '-' expr %prec UNARY  { $$ = ast_expr_join(p, ast_expr_new(p, AST_NEGATE, @$), $2, NULL,
                                                 NULL); }
    | '!' expr %prec UNARY  { $$ = ast_expr_join(p, ast_expr_new(p, AST_NOT, @$), $2, NULL, NULL); }
    | expr '+' expr         { $$ = binary(p, @$, $1, '+', $3); }
    | expr '-' expr         { $$ = binary(p, @$, $1, '-', $3); }
    | expr '*' expr         { $$ = binary(p, @$, $1, '*', $3); }
    | expr '/' expr         { $$ = binary(p, @$, $1, '/', $3); }
    | expr '%' expr         { $$ = binary(p, @$, $1, '%', $3); }
    | expr '<' expr         { $$ = binary(p, @$, $1, '<', $3); }
    | expr '>' expr         { $$ = binary(p, @$, $1, '>', $3); }
    | expr AT_MOST expr     { $$ = binary(p, @$, $1, AT_MOST, $3); }
    | expr AT_LEAST expr    { $$ = binary(p, @$, $1, AT_LEAST, $3); }
    | expr EQUAL expr       { $$ = binary(p, @$, $1, EQUAL, $3); }
    | expr UNEQUAL expr     { $$ = binary(p, @$, $1, UNEQUAL, $3); }
    | expr AND expr         { $$ = binary(p, @$, $1, AND, $3); }
    | expr OR expr          { $$ = binary(p, @$, $1, OR, $3); }
    | expr '?' expr ':' expr
                            { $$ = ast_expr_join(p, ast_expr_new(p, AST_CHOOSE, @$), $1, $3, $5); }
    ;

postfix: primary
       | postfix '.' name   { $$ = member_of(p, $1, $3, @$); }
       | postfix '[' expr ']'
                            { $$ = ast_expr_join(p, ast_expr_new(p, AST_INDEX, @$), $1, $3, NULL); }
       | postfix '[' '*' ']'
                            { $$ = ast_expr_join(p, ast_expr_new(p, AST_ALL, @$), $1, NULL, NULL); }
       | postfix '[' ']'    { $$ = ast_expr_join(p, ast_expr_new(p, AST_ALL, @$), $1, NULL, NULL);
                              $$->half_open = true; }
       | postfix '[' expr to expr ']'
                            { $$ = ast_expr_new(p, AST_SLICE, @$);
                              $$->half_open = $4;
                              $$ = ast_expr_join(p, $$, $1, $3, $5); }
       ;

primary: WORD               { $$ = ast_expr_new(p, AST_NAME, @$);
                              $$->name = name_of($1); }
       | WORD '(' ')'       { $$ = ast_expr_new(p, AST_CALL, @$);
                              $$->name = name_of($1); }
       | WORD '(' arg_list ')'
                            { $$ = ast_expr_new(p, AST_CALL, @$);
                              $$->name = name_of($1);
                              $$->list = $3;
                              for (uint32_t i = 0; i < $3->v.count; i++)
                                  $$ = ast_expr_join(p, $$, $3->v.items[i], NULL, NULL);
                              $$->a = NULL; }
       | NUMBER             { $$ = ast_expr_new(p, AST_NUMBER, @$);
                              $$->value = $1.value;
                              $$->dimension = $1.dimension; }
       | STRING             { $$ = ast_expr_new(p, AST_STRING, @$);
                              $$->name = name_of($1); }
       | '(' expr ')'       { $$ = $2; }
       ;

%%

static int heddle_yylex(HEDDLE_YYSTYPE *value, HEDDLE_YYLTYPE *location, struct parser *p)
{
    if (p->start != 0) {
        int kind = p->start;
        p->start = 0;
        *location = (struct span){ p->source->base, p->source->base };
        return kind;
    }
    if (p->insert_semicolon) {
        p->insert_semicolon = false;
        uint32_t end = p->next > 0 ? p->tokens.tokens.items[p->next - 1].span.end : p->source->base;
        *location = (struct span){ end, end };
        return ';';
    }
    if (p->is_flooded) /* what is already said ends the reading */
        p->next = p->tokens.tokens.count - 1;
    const struct token *token = &p->tokens.tokens.items[p->next];
    if (p->next + 1 < p->tokens.tokens.count)
        p->next++;
    value->token = *token;
    *location = token->span;
    return token->kind;
}

/* Reports what custom reporting does not cover: the stack is full. */
static void heddle_yyerror(HEDDLE_YYLTYPE *location, struct parser *p, const char *message)
{
    (void)message;
    p->has_failed = true;
    diagnostic_add(p->diagnostics, E0007, *location, "nested too deeply");
}

/* Moves the cursor to the end of the statement with a mistake in it: before its ';' or the '}'
 * around it, or behind the braces it has. `at` is the offending token, which stays the
 * look-ahead. */
static void parser_skip(struct parser *p, uint32_t at)
{
    const struct token *tokens = p->tokens.tokens.items;
    uint32_t depth = 0;
    for (uint32_t i = at; i + 1 < p->tokens.tokens.count; i++) {
        int kind = tokens[i].kind;
        if (kind == '{')
            depth++;
        if (kind == '}' && depth == 0) {
            p->next = i > at ? i : at + 1;
            return;
        }
        if (kind == '}' && --depth == 0) {
            p->next = i + 1;
            p->insert_semicolon = tokens[i + 1].kind != ';';
            return;
        }
        if (kind == ';' && depth == 0) {
            p->next = i > at ? i : at + 1;
            return;
        }
    }
    p->next = p->tokens.tokens.count - 1;
}

static bool is_expected(const yysymbol_kind_t *expected, int count, yysymbol_kind_t kind)
{
    for (int i = 0; i < count; i++)
        if (expected[i] == kind)
            return true;
    return false;
}

/* The one thing that can be there, or NULL. After the name of a setting that is '=': that its
 * path may go on is no help to a user who wrote something else. */
static const char *only_expected(const yysymbol_kind_t *expected, int count)
{
    yysymbol_kind_t equals = (yysymbol_kind_t)YYTRANSLATE('=');
    yysymbol_kind_t dot = (yysymbol_kind_t)YYTRANSLATE('.');
    if (count == 3 && is_expected(expected, count, equals) && is_expected(expected, count, dot))
        return yysymbol_name(equals);
    return count == 1 ? yysymbol_name(expected[0]) : NULL;
}

#define EXPECTED_MAX 64

static void report_error(const yypcontext_t *context, struct parser *p)
{
    yysymbol_kind_t expected[EXPECTED_MAX];
    int count = yypcontext_expected_tokens(context, expected, EXPECTED_MAX);
    yysymbol_kind_t found = yypcontext_token(context);
    struct span span = *yypcontext_location(context);
    uint32_t at = 0;
    for (uint32_t i = p->next; i-- > 0;)
        if (p->tokens.tokens.items[i].span.begin <= span.begin) {
            at = i;
            break;
        }
    if (found == YYSYMBOL_YYEOF)
        at = p->tokens.tokens.count - 1;
    const struct token *token = &p->tokens.tokens.items[at];
    p->has_failed = true;
    bool wants_semicolon = is_expected(expected, count, (yysymbol_kind_t)YYTRANSLATE(';'));
    if (wants_semicolon && at > 0 && !ast_keyword_meant(p, at)
        && (token->first_on_line || token->kind == '}' || token->kind == 0)) {
        uint32_t end = p->tokens.tokens.items[at - 1].span.end;
        diagnostic_add(p->diagnostics, E0001, (struct span){ end, end }, "expected ';'");
        return;
    }
    struct ast_expectation expectation = {
        .symbol = yysymbol_name(found),
        .only = only_expected(expected, count),
        .semicolon = wants_semicolon,
        .value = is_expected(expected, count, YYSYMBOL_NUMBER),
    };
    ast_report_syntax(p, at, &expectation);
    parser_skip(p, at);
}

/* True if the offset is after a '{' that was never closed. Mistakes there follow from that one,
 * which has been reported. */
static bool is_doubtful(const struct parser *p, uint32_t offset)
{
    for (uint32_t i = 0; i < p->tokens.unclosed.count; i++) {
        const struct span *unclosed = &p->tokens.unclosed.items[i];
        if (offset >= unclosed->begin && offset < unclosed->end)
            return true;
    }
    return false;
}

static int yyreport_syntax_error(const yypcontext_t *context, struct parser *p)
{
    if (p->is_flooded)
        return 0;
    bool doubtful = is_doubtful(p, yypcontext_location(context)->begin);
    p->diagnostics->muted += doubtful;
    report_error(context, p);
    p->diagnostics->muted -= doubtful;
    return 0;
}
