/* The grammar. Actions only call builders (ptx_build.h); memory is the module's region, so recovery
 * has nothing to destroy. After a mistake the parser goes on behind the next ';' or '}'. */
%code top {
#include <stdio.h>
#include <string.h>
}

%code requires {
#include "components/nvidia/ptx/ptx_build.h"

struct ptx_location {
    uint32_t line;
};
#define YYLTYPE_IS_DECLARED 1
}

%define api.pure full
%define api.prefix {ptx_yy}
%define api.location.type {struct ptx_location}
%define parse.error custom
%locations
%param { void *scanner }
%parse-param { struct ptx_parser *p }
%expect 0

%union {
    const char *word;
    uint8_t code;
    struct ptx_number number;
    struct ptx_operand operand;
    struct ptx_operands operands;
    struct ptx_words words;
    uint64_t count;
    struct ptx_limit limit;
    struct {
        const char *word;
        int64_t addend;
        uint64_t mask;
        bool generic;
    } symbol;
    struct {
        const char *target;
        const char *table;
        struct ptx_operands arguments;
    } call;
}

%code {
#define YYLLOC_DEFAULT(current, rhs, n) ((current) = YYRHSLOC(rhs, (n) ? 1 : 0))

int ptx_yylex(YYSTYPE *value, YYLTYPE *location, void *scanner);

static void ptx_yyerror(YYLTYPE *location, void *scanner, struct ptx_parser *p,
                        const char *message)
{
    (void)scanner;
    ptx_error_at(p, location->line, "%s", message);
}

static struct ptx_operands append(struct ptx_parser *p, struct ptx_operands list,
                                  struct ptx_operand operand)
{
    *region_append(p->region, list.at, list.count) = operand;
    return list;
}

static struct ptx_words append_word(struct ptx_parser *p, struct ptx_words list, const char *word)
{
    *region_append(p->region, list.at, list.count) = word;
    return list;
}

static struct ptx_operands one(struct ptx_parser *p, struct ptx_operand operand)
{
    return append(p, (struct ptx_operands){ 0 }, operand);
}
}

%token VERSION ".version" TARGET ".target" ADDRESS_SIZE ".address_size" FILE_NAME ".file"
%token LOC ".loc" PRAGMA ".pragma" ENTRY ".entry" FUNC ".func" ALIAS ".alias" ALIGN ".align"
%token POINTER ".ptr" ATTRIBUTE ".attribute" UNKNOWN "directive"
%token BRANCH_TARGETS ".branchtargets" CALL_TARGETS ".calltargets" CALL_PROTOTYPE ".callprototype"
%token SHIFT_LEFT "<<" SHIFT_RIGHT ">>"
%token <word> WORD "name" STRING "string" CALL "call" LIMIT "limit" FLAG "limit without value"
%token <code> LINKAGE ".visible" SPACE "state space" TYPE "type" VECTOR "vector"
%token <code> ATTRIBUTE_NAME "attribute"
%token <number> NUMBER "number"

%type <code> linkage
%type <word> name target_word
%type <number> constant expression
%type <operand> operand item guard simple target
%type <operands> operands items list elements call_rest
%type <words> words
%type <count> dimensions
%type <limit> limit_values
%type <symbol> symbol address
%type <call> call_tail

%left '|'
%left '^'
%left '&'
%left SHIFT_LEFT SHIFT_RIGHT
%left '+' '-'
%left '*' '/' '%'
%precedence UNARY

%%

module: %empty | module top;

top: VERSION NUMBER            { ptx_set_version(p, $2, @1.line); }
   | TARGET targets
   | ADDRESS_SIZE NUMBER       { ptx_set_address_size(p, $2, @1.line); }
   | file
   | pragma
   | LOC location
   | variable
   | function
   | ALIAS WORD ',' WORD ';'   { ptx_add_alias(p, $2, $4, @1.line); }
   | error ';'
   | error '}'
   ;

targets: target_word           { ptx_set_target(p, $1, @1.line); }
       | targets ',' target_word { ptx_set_target(p, $3, @3.line); }
       ;

target_word: WORD;

file: FILE_NAME NUMBER STRING  { ptx_add_file(p, $2, $3, @1.line); }
    | file ',' NUMBER
    ;

pragma: PRAGMA strings ';';
strings: STRING | strings ',' STRING;

linkage: %empty                { $$ = PTX_PRIVATE; }
       | linkage LINKAGE       { $$ = $2; }
       ;

variable: linkage SPACE        { ptx_declaration_begin(p, $1, $2); }
          qualifiers type qualifiers declarators ';'
        ;

type: TYPE                     { p->declaration.type = $1; };

qualifiers: %empty | qualifiers qualifier;

qualifier: ALIGN NUMBER        { ptx_declaration_align(p, $2, @1.line); }
         | VECTOR              { p->declaration.vector = $1; }
         | POINTER             { p->declaration.is_pointer = true; }
         | SPACE
         | ATTRIBUTE '(' attributes ')'
         ;

attributes: attribute | attributes ',' attribute;

attribute: ATTRIBUTE_NAME      { p->declaration.is_managed |= $1; }
         | ATTRIBUTE_NAME '(' NUMBER ',' NUMBER ')'
         ;

declarators: declarator | declarators ',' declarator;

declarator: name '<' NUMBER '>' { ptx_declare_range(p, $1, $3, @1.line); }
          | name dimensions
                               { ptx_declare_name(p, $1, $2 != UINT64_MAX, $2, @1.line); }
            initial
          ;

name: WORD
    | '_'                      { $$ = NULL; }
    ;

dimensions: %empty             { $$ = UINT64_MAX; }
          | dimensions '[' ']' { $$ = $1 == UINT64_MAX ? 0 : $1; }
          | dimensions '[' constant ']' { $$ = ptx_dimension(p, $1, $3, @3.line); }
          ;

initial: %empty | '=' value;

values: value | values ',' value;

value: '{' values '}'
     | '{' '}'
     | constant                { ptx_initial_number(p, $1, @1.line); }
     | symbol                  { ptx_initial_symbol(p, $1.word, $1.generic, $1.mask, $1.addend,
                                                    @1.line); }
     | NUMBER '(' symbol ')'   { ptx_initial_symbol(p, $3.word, $3.generic, $1.bits, $3.addend,
                                                    @1.line); }
     ;

symbol: address
      | address '+' constant   { $$ = $1; $$.addend += (int64_t)$3.bits; }
      | address '-' constant   { $$ = $1; $$.addend -= (int64_t)$3.bits; }
      ;

address: WORD                  { $$.word = $1; $$.addend = 0; $$.mask = 0; $$.generic = false; }
       | WORD '(' symbol ')'   { $$ = $3; $$.generic = true;
                                 if (strcmp($1, "generic") != 0)
                                     ptx_error_at(p, @1.line, "'%.60s' is no operator of addresses;"
                                                  " 'generic' is", $1); }
       ;

function: linkage ENTRY header_begin WORD
                               { ptx_function_header(p, $4, true, $1, @4.line); }
          parameters limits body
        | linkage FUNC header_begin limits results WORD
                               { ptx_function_header(p, $6, false, $1, @6.line); }
          parameters limits body
        ;

header_begin: %empty           { ptx_header_begin(p); };

results: %empty | '('          { p->in_results = true; }
         parameter_list ')'    { p->in_results = false; };

parameters: %empty | '('       { p->in_params = true; }
            parameter_list ')' { p->in_params = false; };

parameter_list: %empty | parameter | parameter_list ',' parameter;

parameter: SPACE               { ptx_declaration_begin(p, PTX_PRIVATE, $1); }
           qualifiers type qualifiers name dimensions
                               { ptx_declare_name(p, $6, $7 != UINT64_MAX, $7, @1.line); }
         ;

limits: %empty | limits limit;

limit: LIMIT limit_values      { ptx_function_limit(p, $1, $2); }
     | FLAG
     | pragma
     | ATTRIBUTE '(' attributes ')'
     ;

limit_values: NUMBER           { $$.value[0] = (uint32_t)$1.bits; $$.value[1] = $$.value[2] = 1; }
            | NUMBER ',' NUMBER
                               { $$.value[0] = (uint32_t)$1.bits; $$.value[1] = (uint32_t)$3.bits;
                                 $$.value[2] = 1; }
            | NUMBER ',' NUMBER ',' NUMBER
                               { $$.value[0] = (uint32_t)$1.bits; $$.value[1] = (uint32_t)$3.bits;
                                 $$.value[2] = (uint32_t)$5.bits; }
            ;

body: ';'                      { ptx_function_end(p, false); }
    | '{'                      { ptx_function_begin(p); }
      statements '}'           { ptx_function_end(p, true); }
    ;

statements: %empty | statements statement;

statement: variable
         | ';'
         | WORD ':'            { ptx_label_define(p, $1, @1.line); }
         | WORD ':' BRANCH_TARGETS words ';'
                               { ptx_add_table(p, $1, PTX_BRANCH_TARGETS, $4, @1.line); }
         | WORD ':' CALL_TARGETS words ';'
                               { ptx_add_table(p, $1, PTX_CALL_TARGETS, $4, @1.line); }
         | WORD ':' CALL_PROTOTYPE header_begin results name parameters flags ';'
                               { ptx_add_table(p, $1, PTX_CALL_PROTOTYPE,
                                               (struct ptx_words){ 0 }, @1.line); }
         | WORD operands ';'   { ptx_instruction(p, (struct ptx_operand){ 0 }, $1, $2, @1.line); }
         | CALL call_rest ';'  { ptx_instruction(p, (struct ptx_operand){ 0 }, $1, $2, @1.line); }
         | guard WORD operands ';'
                               { ptx_instruction(p, $1, $2, $3, @2.line); }
         | guard CALL call_rest ';'
                               { ptx_instruction(p, $1, $2, $3, @2.line); }
         | '{'                 { ptx_scope_open(p); }
           statements '}'      { ptx_scope_close(p); }
         | LOC location
         | pragma
         | file
         | error ';'
         ;

flags: %empty | flags FLAG;

words: WORD                    { $$ = append_word(p, (struct ptx_words){ 0 }, $1); }
     | words ',' WORD          { $$ = append_word(p, $1, $3); }
     ;

location: NUMBER NUMBER NUMBER { p->loc_file = (uint32_t)$1.bits;
                                 p->loc_line = (uint32_t)$2.bits; }
        | location ',' WORD WORD
        | location ',' WORD WORD '+' NUMBER
        | location ',' WORD NUMBER NUMBER NUMBER
        ;

guard: '@' WORD                { $$ = ptx_operand_word(p, $2, false, @2.line); }
     | '@' '!' WORD            { $$ = ptx_operand_word(p, $3, true, @3.line); }
     ;

operands: %empty               { $$ = (struct ptx_operands){ 0 }; }
        | items
        ;

items: operand                 { $$ = one(p, $1); }
     | items ',' operand       { $$ = append(p, $1, $3); }
     ;

operand: item;

item: simple
    | target '|' target        { $$ = ptx_operand_list(PTX_OPERAND_PAIR,
                                                       append(p, one(p, $1), $3)); }
    | '[' elements ']'         { $$ = ptx_operand_bracket(p, $2, @1.line); }
    | '{' elements '}'         { $$ = ptx_operand_list(PTX_OPERAND_VECTOR, $2); }
    | '!' WORD                 { $$ = ptx_operand_word(p, $2, true, @2.line); }
    | '-' WORD                 { $$ = ptx_operand_word(p, $2, true, @2.line); }
    ;

elements: item                 { $$ = one(p, $1); }
        | elements ',' item    { $$ = append(p, $1, $3); }
        ;

simple: target
      | WORD '+' constant      { $$ = ptx_operand_sum(p, $1, $3, false, @1.line); }
      | WORD '-' constant      { $$ = ptx_operand_sum(p, $1, $3, true, @1.line); }
      | constant               { $$ = ptx_operand_number($1); }
      ;

target: WORD                   { $$ = ptx_operand_word(p, $1, false, @1.line); }
      | '_'                    { $$ = (struct ptx_operand){ .kind = PTX_OPERAND_SINK }; }
      ;

/* Always four operands: results, target, arguments, table. */
call_rest: call_tail           { $$ = ptx_call_operands(p, (struct ptx_operands){ 0 }, $1.target,
                                                        $1.arguments, $1.table, @1.line); }
         | list ',' call_tail  { $$ = ptx_call_operands(p, $1, $3.target, $3.arguments, $3.table,
                                                        @3.line); }
         ;

call_tail: WORD                { $$.target = $1; $$.table = NULL;
                                 $$.arguments = (struct ptx_operands){ 0 }; }
         | WORD ',' WORD       { $$.target = $1; $$.table = $3;
                                 $$.arguments = (struct ptx_operands){ 0 }; }
         | WORD ',' list       { $$.target = $1; $$.table = NULL; $$.arguments = $3; }
         | WORD ',' list ',' WORD
                               { $$.target = $1; $$.table = $5; $$.arguments = $3; }
         ;

list: '(' ')'                  { $$ = (struct ptx_operands){ 0 }; }
    | '(' elements ')'         { $$ = $2; }
    ;

constant: expression;

expression: NUMBER
          | '-' expression %prec UNARY { $$ = ptx_fold_unary(p, '-', $2, @1.line); }
          | '~' expression %prec UNARY { $$ = ptx_fold_unary(p, '~', $2, @1.line); }
          | '!' expression %prec UNARY { $$ = ptx_fold_unary(p, '!', $2, @1.line); }
          | '(' expression ')' { $$ = $2; }
          | expression '+' expression { $$ = ptx_fold(p, '+', $1, $3, @2.line); }
          | expression '-' expression { $$ = ptx_fold(p, '-', $1, $3, @2.line); }
          | expression '*' expression { $$ = ptx_fold(p, '*', $1, $3, @2.line); }
          | expression '/' expression { $$ = ptx_fold(p, '/', $1, $3, @2.line); }
          | expression '%' expression { $$ = ptx_fold(p, '%', $1, $3, @2.line); }
          | expression '&' expression { $$ = ptx_fold(p, '&', $1, $3, @2.line); }
          | expression '^' expression { $$ = ptx_fold(p, '^', $1, $3, @2.line); }
          | expression '|' expression { $$ = ptx_fold(p, '|', $1, $3, @2.line); }
          | expression SHIFT_LEFT expression { $$ = ptx_fold(p, '<', $1, $3, @2.line); }
          | expression SHIFT_RIGHT expression { $$ = ptx_fold(p, '>', $1, $3, @2.line); }
          ;

%%

static int yyreport_syntax_error(const yypcontext_t *context, void *scanner,
                                     struct ptx_parser *p)
{
    enum { SHOWN = 5 };
    (void)scanner;
    yysymbol_kind_t expected[SHOWN];
    int count = yypcontext_expected_tokens(context, expected, SHOWN);
    char text[300];
    yysymbol_kind_t token = yypcontext_token(context);
    int used = snprintf(text, sizeof text, "unexpected %s",
                        token == YYSYMBOL_YYEMPTY ? "text" : yysymbol_name(token));
    for (int i = 0; i < count && used < (int)sizeof text; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s",
                         i == 0 ? "; expected " : i + 1 == count ? " or " : ", ",
                         yysymbol_name(expected[i]));
    ptx_error_at(p, yypcontext_location(context)->line, "%s", text);
    return 0;
}
