/* CPython's stable ABI, as far as the kernel's modules use it. Only for Linux without Python's own header files.

This file was written for Secateur from the documentation: https://docs.python.org/3/c-api/stable.html. It is not
CPython's Python.h. It declares what the C code of Cython 3.1 to 3.3 needs, for Python 3.11, and nothing more.
`own_headers` in toolchain.py decides when it is used; tests/test_own_headers.py compares it with the real headers.

Invariants: every function and variable here is in the stable ABI of 3.11. Of an object only the count and the type are
read: these the ABI promises. Counts change by functions of the running Python, which knows its immortal objects. */

#ifndef Py_PYTHON_H
#define Py_PYTHON_H

#ifndef Py_LIMITED_API
#error "This header serves the limited API only: define Py_LIMITED_API"
#endif

/* Python.h brings these. The code of Cython counts on it. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define PY_VERSION_HEX 0x030B00F0

/* Numbers ---------------------------------------------------------------------------------------------------------- */

typedef ssize_t Py_ssize_t;
typedef ssize_t Py_hash_t;
typedef uint32_t Py_UCS4;

#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define HAVE_PTHREAD_H 1

#define PY_INT64_T int64_t
#define PY_LONG_LONG long long
#define PY_SSIZE_T_MAX ((Py_ssize_t)(SIZE_MAX / 2))
#define PY_SSIZE_T_MIN (-PY_SSIZE_T_MAX - 1)
#define Py_HUGE_VAL HUGE_VAL

/* Objects ---------------------------------------------------------------------------------------------------------- */

typedef struct secateur_type PyTypeObject;
typedef struct secateur_thread PyThreadState;
typedef struct secateur_interpreter PyInterpreterState;

typedef struct _frame PyFrameObject;

/* The head of every object. The stable ABI promises both members, and no others. */
typedef struct secateur_object {
    Py_ssize_t ob_refcnt;
    PyTypeObject *ob_type;
} PyObject;

#define PyObject_HEAD PyObject ob_base;
#define Py_TYPE(object) (((PyObject *)(object))->ob_type)
#define Py_SET_TYPE(object, type) (Py_TYPE(object) = (type))
#define Py_IS_TYPE(object, type) (Py_TYPE(object) == (type))
#define Py_Is(one, other) ((one) == (other))

extern PyObject _Py_FalseStruct, _Py_NoneStruct, _Py_TrueStruct;

#define Py_False (&_Py_FalseStruct)
#define Py_None (&_Py_NoneStruct)
#define Py_True (&_Py_TrueStruct)
#define Py_IsFalse(object) Py_Is(object, Py_False)
#define Py_IsNone(object) Py_Is(object, Py_None)
#define Py_IsTrue(object) Py_Is(object, Py_True)

/* Both functions take NULL. */
void Py_DecRef(PyObject *);
void Py_IncRef(PyObject *);

/* Only for an object that is going: it is lent to its own __dealloc__ with a count of 1. */
#define Py_REFCNT(object) (((PyObject *)(object))->ob_refcnt)
#define Py_SET_REFCNT(object, count) (Py_REFCNT(object) = (count))

#define Py_DECREF(object) Py_DecRef((PyObject *)(object))
#define Py_INCREF(object) Py_IncRef((PyObject *)(object))
#define Py_XDECREF(object) Py_DECREF(object)
#define Py_XINCREF(object) Py_INCREF(object)

static inline PyObject *secateur_shared(PyObject *object) {
    Py_IncRef(object);
    return object;
}

#define Py_NewRef(object) secateur_shared((PyObject *)(object))
#define Py_XNewRef(object) secateur_shared((PyObject *)(object))
#define Py_RETURN_FALSE return Py_NewRef(Py_False)
#define Py_RETURN_NONE return Py_NewRef(Py_None)
#define Py_RETURN_TRUE return Py_NewRef(Py_True)

/* The variable is empty before the object goes: what its end runs must not find it there. */
static inline void secateur_clear(PyObject **variable) {
    PyObject *object = *variable;
    *variable = NULL;
    Py_DecRef(object);
}

#define Py_CLEAR(variable) secateur_clear((PyObject **)&(variable))

/* Tables that Python reads ----------------------------------------------------------------------------------------- */

typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef PyObject *(*PyCFunctionWithKeywords)(PyObject *, PyObject *, PyObject *);

typedef PyObject *(*getter)(PyObject *, void *);
typedef int (*setter)(PyObject *, PyObject *, void *);

typedef PyObject *(*allocfunc)(PyTypeObject *, Py_ssize_t);
typedef void (*destructor)(PyObject *);
typedef void (*freefunc)(void *);
typedef int (*inquiry)(PyObject *);
typedef int (*visitproc)(PyObject *, void *);
typedef int (*traverseproc)(PyObject *, visitproc, void *);
typedef PyObject *(*newfunc)(PyTypeObject *, PyObject *, PyObject *);
typedef PyObject *(*iternextfunc)(PyObject *);

typedef struct PyMethodDef {
    const char *ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char *ml_doc;
} PyMethodDef;

typedef struct PyMemberDef {
    const char *name;
    int type;
    Py_ssize_t offset;
    int flags;
    const char *doc;
} PyMemberDef;

typedef struct PyGetSetDef {
    const char *name;
    getter get;
    setter set;
    const char *doc;
    void *closure;
} PyGetSetDef;

typedef struct {
    int slot;
    void *pfunc;
} PyType_Slot;

typedef struct {
    const char *name;
    int basicsize;
    int itemsize;
    unsigned int flags;
    PyType_Slot *slots;
} PyType_Spec;

typedef struct {
    int slot;
    void *value;
} PyModuleDef_Slot;

/* The first four members are for Python alone. */
typedef struct {
    PyObject ob_base;
    PyObject *(*m_init)(void);
    Py_ssize_t m_index;
    PyObject *m_copy;
} PyModuleDef_Base;

typedef struct PyModuleDef {
    PyModuleDef_Base m_base;
    const char *m_name;
    const char *m_doc;
    Py_ssize_t m_size;
    PyMethodDef *m_methods;
    PyModuleDef_Slot *m_slots;
    traverseproc m_traverse;
    inquiry m_clear;
    freefunc m_free;
} PyModuleDef;

#define PyModuleDef_HEAD_INIT {{1, NULL}, NULL, 0, NULL}

typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len;
    Py_ssize_t itemsize;
    int readonly;
    int ndim;
    char *format;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    Py_ssize_t *suboffsets;
    void *internal;
} Py_buffer;

typedef int PySendResult;
typedef int PyGILState_STATE;

#define PyMODINIT_FUNC __attribute__((visibility("default"))) PyObject *
#define PyDoc_STR(text) text
#define PyDoc_STRVAR(name, text) static const char name[] = PyDoc_STR(text)
#define Py_UNREACHABLE() __builtin_unreachable()

/* In a traverse function: pass on each object that is held, and stop at the first answer that is not 0. */
#define Py_VISIT(object)                                                    \
    do {                                                                    \
        int secateur_answer = 0;                                            \
        if (object) secateur_answer = visit((PyObject *)(object), arg);     \
        if (secateur_answer) return secateur_answer;                        \
    } while (0)

/* The numbers of the ABI. Macros, because the code of Cython asks whether some of them exist. ---------------------- */

#define METH_VARARGS 0x001
#define METH_KEYWORDS 0x002
#define METH_NOARGS 0x004
#define METH_O 0x008
#define METH_STACKLESS 0x000
#define METH_FASTCALL 0x080
#define METH_METHOD 0x200

#define T_OBJECT 6
#define T_PYSSIZET 19
#define READONLY 1

#define Py_LT 0
#define Py_EQ 2
#define Py_NE 3
#define Py_GT 4
#define Py_GE 5

#define PYGEN_RETURN 0
#define PYGEN_ERROR (-1)
#define PYGEN_NEXT 1

#define PyBUF_SIMPLE 0
#define PyBUF_READ 256
#define Py_eval_input 258
#define Py_mod_create 1
#define Py_mod_exec 2

#define Py_tp_alloc 47
#define Py_tp_base 48
#define Py_tp_bases 49
#define Py_tp_call 50
#define Py_tp_clear 51
#define Py_tp_dealloc 52
#define Py_tp_del 53
#define Py_tp_descr_get 54
#define Py_tp_doc 56
#define Py_tp_getattro 58
#define Py_tp_init 60
#define Py_tp_iter 62
#define Py_tp_iternext 63
#define Py_tp_methods 64
#define Py_tp_new 65
#define Py_tp_repr 66
#define Py_tp_traverse 71
#define Py_tp_members 72
#define Py_tp_getset 73
#define Py_tp_free 74
#define Py_am_send 81

#define Py_TPFLAGS_DEFAULT 0UL
#define Py_TPFLAGS_HAVE_FINALIZE (1UL << 0)
#define Py_TPFLAGS_DISALLOW_INSTANTIATION (1UL << 7)
#define Py_TPFLAGS_IMMUTABLETYPE (1UL << 8)
#define Py_TPFLAGS_HEAPTYPE (1UL << 9)
#define Py_TPFLAGS_BASETYPE (1UL << 10)
#define Py_TPFLAGS_HAVE_GC (1UL << 14)
#define Py_TPFLAGS_METHOD_DESCRIPTOR (1UL << 17)
#define Py_TPFLAGS_HAVE_VERSION_TAG (1UL << 18)
#define Py_TPFLAGS_IS_ABSTRACT (1UL << 20)

/* Variables -------------------------------------------------------------------------------------------------------- */

extern const unsigned long Py_Version;

extern PyTypeObject PyBaseObject_Type, PyByteArray_Type, PyBytes_Type, PyCFunction_Type, PyDict_Type, PyFloat_Type,
    PyList_Type, PyLong_Type, PySet_Type, PyTraceBack_Type, PyTuple_Type, PyType_Type, PyUnicode_Type;

extern PyObject *PyExc_AttributeError, *PyExc_BaseException, *PyExc_DeprecationWarning, *PyExc_Exception,
    *PyExc_GeneratorExit, *PyExc_ImportError, *PyExc_IndexError, *PyExc_KeyError,
    *PyExc_ModuleNotFoundError, *PyExc_NameError,
    *PyExc_NotImplementedError, *PyExc_OverflowError, *PyExc_RuntimeError, *PyExc_RuntimeWarning,
    *PyExc_StopAsyncIteration, *PyExc_StopIteration, *PyExc_SystemError, *PyExc_TypeError, *PyExc_UnboundLocalError,
    *PyExc_ValueError;

/* Types: what an object is ----------------------------------------------------------------------------------------- */

unsigned long PyType_GetFlags(PyTypeObject *);
int PyType_IsSubtype(PyTypeObject *, PyTypeObject *);

static inline int secateur_is_a(PyObject *object, PyTypeObject *type) {
    return Py_IS_TYPE(object, type) || PyType_IsSubtype(Py_TYPE(object), type);
}

static inline int secateur_is_exception_class(PyObject *object) {
    return secateur_is_a(object, &PyType_Type) &&
           PyType_IsSubtype((PyTypeObject *)object, (PyTypeObject *)PyExc_BaseException);
}

#define PyObject_TypeCheck(object, type) secateur_is_a((PyObject *)(object), type)
#define PyByteArray_Check(object) PyObject_TypeCheck(object, &PyByteArray_Type)
#define PyDict_Check(object) PyObject_TypeCheck(object, &PyDict_Type)
#define PyLong_Check(object) PyObject_TypeCheck(object, &PyLong_Type)
#define PyTuple_Check(object) PyObject_TypeCheck(object, &PyTuple_Type)
#define PyType_Check(object) PyObject_TypeCheck(object, &PyType_Type)
#define PyUnicode_Check(object) PyObject_TypeCheck(object, &PyUnicode_Type)
#define PyExceptionClass_Check(object) secateur_is_exception_class((PyObject *)(object))
#define PyExceptionInstance_Check(object) PyObject_TypeCheck(object, (PyTypeObject *)PyExc_BaseException)
#define PyCFunction_Check(object) PyObject_TypeCheck(object, &PyCFunction_Type)

#define PyByteArray_CheckExact(object) Py_IS_TYPE(object, &PyByteArray_Type)
#define PyBytes_CheckExact(object) Py_IS_TYPE(object, &PyBytes_Type)
#define PyDict_CheckExact(object) Py_IS_TYPE(object, &PyDict_Type)
#define PyFloat_CheckExact(object) Py_IS_TYPE(object, &PyFloat_Type)
#define PyList_CheckExact(object) Py_IS_TYPE(object, &PyList_Type)
#define PyLong_CheckExact(object) Py_IS_TYPE(object, &PyLong_Type)
#define PySet_CheckExact(object) Py_IS_TYPE(object, &PySet_Type)
#define PyTraceBack_Check(object) Py_IS_TYPE(object, &PyTraceBack_Type)
#define PyTuple_CheckExact(object) Py_IS_TYPE(object, &PyTuple_Type)
#define PyUnicode_CheckExact(object) Py_IS_TYPE(object, &PyUnicode_Type)

#define PyType_HasFeature(type, flag) ((PyType_GetFlags(type) & (flag)) != 0)

/* Functions that answer a number, or 0 or -1 for done or failed ---------------------------------------------------- */

int PyArg_ValidateKeywordArguments(PyObject *);
int PyArg_UnpackTuple(PyObject *, const char *, Py_ssize_t, Py_ssize_t, ...);
int PyBytes_AsStringAndSize(PyObject *, char **, Py_ssize_t *);
int PyCFunction_GetFlags(PyObject *);
int PyCallable_Check(PyObject *);
int PyCapsule_IsValid(PyObject *, const char *);
int PyDict_Contains(PyObject *, PyObject *);
int PyDict_DelItem(PyObject *, PyObject *);
int PyDict_Next(PyObject *, Py_ssize_t *, PyObject **, PyObject **);
int PyDict_SetItem(PyObject *, PyObject *, PyObject *);
int PyDict_SetItemString(PyObject *, const char *, PyObject *);
int PyDict_Update(PyObject *, PyObject *);
int PyErr_ExceptionMatches(PyObject *);
int PyErr_GivenExceptionMatches(PyObject *, PyObject *);
int PyErr_WarnEx(PyObject *, const char *, Py_ssize_t);
int PyErr_WarnFormat(PyObject *, Py_ssize_t, const char *, ...);
int PyException_SetTraceback(PyObject *, PyObject *);
int PyIter_Check(PyObject *);
int PyList_Append(PyObject *, PyObject *);
int PyList_SetItem(PyObject *, Py_ssize_t, PyObject *);
int PyList_SetSlice(PyObject *, Py_ssize_t, Py_ssize_t, PyObject *);
int PyList_Sort(PyObject *);
int PyMapping_Check(PyObject *);
int PyModule_AddObject(PyObject *, const char *, PyObject *);
int PyNumber_Check(PyObject *);
int PyOS_snprintf(char *, size_t, const char *, ...);
int PyObject_GenericSetDict(PyObject *, PyObject *, void *);
int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
int PyObject_HasAttr(PyObject *, PyObject *);
int PyObject_IsSubclass(PyObject *, PyObject *);
int PyObject_IsTrue(PyObject *);
int PyObject_RichCompareBool(PyObject *, PyObject *, int);
int PyObject_SetAttr(PyObject *, PyObject *, PyObject *);
int PyObject_SetAttrString(PyObject *, const char *, PyObject *);
int PyObject_SetItem(PyObject *, PyObject *, PyObject *);
int PySequence_Contains(PyObject *, PyObject *);
int PySequence_SetItem(PyObject *, Py_ssize_t, PyObject *);
int PyTraceBack_Here(PyFrameObject *);
int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);
int PyType_Ready(PyTypeObject *);
int PyUnicode_Compare(PyObject *, PyObject *);
int PyUnicode_CompareWithASCIIString(PyObject *, const char *);
int Py_EnterRecursiveCall(const char *);
Py_hash_t PyObject_Hash(PyObject *);
Py_ssize_t PyByteArray_Size(PyObject *);
Py_ssize_t PyBytes_Size(PyObject *);
Py_ssize_t PyDict_Size(PyObject *);
Py_ssize_t PyList_Size(PyObject *);
Py_ssize_t PyLong_AsSsize_t(PyObject *);
Py_ssize_t PyObject_Size(PyObject *);
Py_ssize_t PySequence_Size(PyObject *);
Py_ssize_t PyTuple_Size(PyObject *);
Py_ssize_t PyUnicode_FindChar(PyObject *, Py_UCS4, Py_ssize_t, Py_ssize_t, int);
double PyFloat_AsDouble(PyObject *);
long PyLong_AsLong(PyObject *);
long PyLong_AsLongAndOverflow(PyObject *, int *);
long long PyLong_AsLongLong(PyObject *);
long long PyLong_AsLongLongAndOverflow(PyObject *, int *);
unsigned long PyLong_AsUnsignedLong(PyObject *);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *);
int64_t PyInterpreterState_GetID(PyInterpreterState *);
PyGILState_STATE PyGILState_Ensure(void);

/* Functions that answer nothing ------------------------------------------------------------------------------------ */

void PyBuffer_Release(Py_buffer *);
void PyErr_Clear(void);
void PyErr_Fetch(PyObject **, PyObject **, PyObject **);
void PyErr_GetExcInfo(PyObject **, PyObject **, PyObject **);
void PyErr_NormalizeException(PyObject **, PyObject **, PyObject **);
void PyErr_PrintEx(int);
void PyErr_Restore(PyObject *, PyObject *, PyObject *);
void PyErr_SetExcInfo(PyObject *, PyObject *, PyObject *);
void PyErr_SetHandledException(PyObject *);
void PyErr_SetNone(PyObject *);
void PyErr_SetObject(PyObject *, PyObject *);
void PyErr_SetString(PyObject *, const char *);
void PyErr_WriteUnraisable(PyObject *);
void PyEval_RestoreThread(PyThreadState *);
void PyException_SetCause(PyObject *, PyObject *);
void PyGILState_Release(PyGILState_STATE);
void PyMem_Free(void *);
void PyObject_ClearWeakRefs(PyObject *);
void PyObject_GC_Del(void *);
void PyObject_GC_Track(void *);
void PyObject_GC_UnTrack(void *);
void PyType_Modified(PyTypeObject *);
void PyUnicode_InternInPlace(PyObject **);
void Py_LeaveRecursiveCall(void);

/* Functions that answer an address --------------------------------------------------------------------------------- */

PyInterpreterState *PyInterpreterState_Get(void);
PyThreadState *PyEval_SaveThread(void);
PyThreadState *PyThreadState_Get(void);
char *PyByteArray_AsString(PyObject *);
char *PyBytes_AsString(PyObject *);
const char *PyCapsule_GetName(PyObject *);
const char *PyModule_GetName(PyObject *);
PyCFunction PyCFunction_GetFunction(PyObject *);
void *PyCapsule_GetPointer(PyObject *, const char *);
void *PyMem_Malloc(size_t);
void *PyMem_Realloc(void *, size_t);
void *PyType_GetSlot(PyTypeObject *, int);

/* Functions that answer an object without a new reference to it ---------------------------------------------------- */

PyObject *PyCFunction_GetSelf(PyObject *);
PyObject *PyDict_GetItem(PyObject *, PyObject *);
PyObject *PyDict_GetItemString(PyObject *, const char *);
PyObject *PyDict_GetItemWithError(PyObject *, PyObject *);
PyObject *PyErr_Occurred(void);
PyObject *PyEval_GetBuiltins(void);
PyObject *PyImport_AddModule(const char *);
PyObject *PyImport_GetModuleDict(void);
PyObject *PyList_GetItem(PyObject *, Py_ssize_t);
PyObject *PyModule_GetDict(PyObject *);
PyObject *PySys_GetObject(const char *);
PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
PyObject *PyObject_Init(PyObject *, PyTypeObject *);
PyObject *PyModuleDef_Init(PyModuleDef *);

/* Functions that raise an exception and answer NULL ---------------------------------------------------------------- */

PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_NoMemory(void);

/* Functions that answer an object with a new reference, or NULL for an exception ----------------------------------- */

PyObject *PyByteArray_FromStringAndSize(const char *, Py_ssize_t);
PyObject *PyBytes_FromString(const char *);
PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t);
PyObject *PyCMethod_New(PyMethodDef *, PyObject *, PyObject *, PyTypeObject *);
PyObject *PyCapsule_New(void *, const char *, void (*)(PyObject *));
PyObject *PyDict_Copy(PyObject *);
PyObject *PyDict_New(void);
PyObject *PyEval_EvalCode(PyObject *, PyObject *, PyObject *);
PyObject *PyFloat_FromDouble(double);
PyObject *PyImport_GetModule(PyObject *);
PyObject *PyImport_ImportModule(const char *);
PyObject *PyImport_ImportModuleLevelObject(PyObject *, PyObject *, PyObject *, PyObject *, int);
PyObject *PyIter_Next(PyObject *);
PyObject *PyList_New(Py_ssize_t);
PyObject *PyLong_FromLong(long);
PyObject *PyLong_FromLongLong(long long);
PyObject *PyLong_FromSize_t(size_t);
PyObject *PyLong_FromSsize_t(Py_ssize_t);
PyObject *PyLong_FromString(const char *, char **, int);
PyObject *PyLong_FromUnsignedLong(unsigned long);
PyObject *PyLong_FromUnsignedLongLong(unsigned long long);
PyObject *PyMemoryView_FromObject(PyObject *);
PyObject *PyMemoryView_FromMemory(char *, Py_ssize_t, int);
PyObject *PyModule_NewObject(PyObject *);
PyObject *PyNumber_Index(PyObject *);
PyObject *PyNumber_Invert(PyObject *);
PyObject *PyNumber_Long(PyObject *);
PyObject *PyObject_Call(PyObject *, PyObject *, PyObject *);
PyObject *PyObject_CallFunction(PyObject *, const char *, ...);
PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
PyObject *PyObject_CallMethod(PyObject *, const char *, const char *, ...);
PyObject *PyObject_CallMethodObjArgs(PyObject *, PyObject *, ...);
PyObject *PyObject_CallObject(PyObject *, PyObject *);
PyObject *PyObject_GenericGetAttr(PyObject *, PyObject *);
PyObject *PyObject_GenericGetDict(PyObject *, void *);
PyObject *PyObject_GetAttr(PyObject *, PyObject *);
PyObject *PyObject_GetAttrString(PyObject *, const char *);
PyObject *PyObject_GetItem(PyObject *, PyObject *);
PyObject *PyObject_GetIter(PyObject *);
PyObject *PyObject_RichCompare(PyObject *, PyObject *, int);
PyObject *PyObject_SelfIter(PyObject *);
PyObject *PySequence_GetItem(PyObject *, Py_ssize_t);
PyObject *PySequence_GetSlice(PyObject *, Py_ssize_t, Py_ssize_t);
PyObject *PySequence_List(PyObject *);
PyObject *PySet_Pop(PyObject *);
PyObject *PySlice_New(PyObject *, PyObject *, PyObject *);
PyObject *PyTuple_GetSlice(PyObject *, Py_ssize_t, Py_ssize_t);
PyObject *PyTuple_New(Py_ssize_t);
PyObject *PyTuple_Pack(Py_ssize_t, ...);
PyObject *PyType_FromModuleAndSpec(PyObject *, PyType_Spec *, PyObject *);
PyObject *PyType_GetQualName(PyTypeObject *);
PyObject *PyUnicode_Concat(PyObject *, PyObject *);
PyObject *PyUnicode_Decode(const char *, Py_ssize_t, const char *, const char *);
PyObject *PyUnicode_DecodeUTF8(const char *, Py_ssize_t, const char *);
PyObject *PyUnicode_Format(PyObject *, PyObject *);
PyObject *PyUnicode_FromFormat(const char *, ...);
PyObject *PyUnicode_FromString(const char *);
PyObject *PyUnicode_FromStringAndSize(const char *, Py_ssize_t);
PyObject *PyUnicode_InternFromString(const char *);
PyObject *PyUnicode_Join(PyObject *, PyObject *);
PyObject *PyUnicode_Substring(PyObject *, Py_ssize_t, Py_ssize_t);
PyObject *Py_CompileString(const char *, const char *, int);
PyObject *_PyObject_GC_New(PyTypeObject *);

/* The operators. Python's `+=` is InPlaceAdd. */
typedef PyObject *secateur_operator(PyObject *, PyObject *);

secateur_operator PyNumber_Add, PyNumber_And, PyNumber_FloorDivide, PyNumber_InPlaceAdd, PyNumber_InPlaceAnd,
    PyNumber_InPlaceFloorDivide, PyNumber_InPlaceLshift, PyNumber_InPlaceMultiply, PyNumber_InPlaceOr,
    PyNumber_InPlaceRemainder, PyNumber_InPlaceRshift, PyNumber_InPlaceSubtract, PyNumber_InPlaceTrueDivide,
    PyNumber_InPlaceXor, PyNumber_Lshift, PyNumber_Multiply, PyNumber_Or, PyNumber_Remainder, PyNumber_Rshift,
    PyNumber_Subtract, PyNumber_TrueDivide, PyNumber_Xor;

/* Other names of the same functions -------------------------------------------------------------------------------- */

/* The documentation names the variable. */
#define Py_UNBLOCK_THREADS _save = PyEval_SaveThread();
#define Py_BLOCK_THREADS PyEval_RestoreThread(_save);
#define PyCFunction_NewEx(method, self, module) PyCMethod_New(method, self, module, NULL)
#define PyCFunction_New(method, self) PyCFunction_NewEx(method, self, NULL)
#define PyObject_GC_New(members, type) ((members *)_PyObject_GC_New(type))
#define PyObject_Length(object) PyObject_Size(object)

#endif
